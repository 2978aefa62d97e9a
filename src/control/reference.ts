/**
 * The API reference: a page that shows the OpenAPI documents of the graph and of this API, and the AsyncAPI document of the webhooks (D-275). It
 * needs no key, as these documents need none: they describe the server, and hold nothing of its worlds.
 */
import type { Context } from "hono";
import type { ServerDescription } from "#control-contract/route";
import { randomSecret } from "#system";
import { plainPage } from "./home.ts";
import { PAGE_HEADERS, PackedPage } from "./pack.ts";

const NONCE_BYTES = 12;
/** In the page, in place of the graph's address. */
const GRAPH_MARK = "%GRAPH%";

export const referenceFiles = new PackedPage("reference");

export async function referencePage(c: Context, { base_url }: ServerDescription): Promise<Response> {
  const nonce = randomSecret(NONCE_BYTES);
  const page = await referenceFiles.page(nonce);
  if (page === undefined)
    return plainPage(
      c,
      "API reference",
      `<p>The API reference is not built. <code>npm start</code>, or <code>node tools/console/reference.mjs</code>, builds it.
<p>What it would show: <a href="/v1/openapi.json">v1/openapi.json</a>, and <code>/openapi.json</code> and <code>/asyncapi.json</code> of the graph.`,
    );
  return new Response(page.html.replaceAll(GRAPH_MARK, Bun.escapeHTML(base_url)), {
    headers: {
      ...PAGE_HEADERS,
      "content-type": page.type,
      "cache-control": "no-store",
      "content-security-policy": policyOf(base_url, nonce),
      "permissions-policy": "camera=(), microphone=(), geolocation=()",
    },
  });
}

/** D-275: the library sets attributes of style, which no nonce can stand for. It may ask for the documents, and for nothing of the world's. */
const policyOf = (base_url: string, nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src 'self' ${new URL(base_url).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
