/**
 * The console: a page that uses this API, from one file that the build has written (`tools/console/build.mjs`). It needs no key and shows
 * nothing of the worlds; what it shows it asks for, with the key that its user gives.
 */
import type { ServerDescription } from "#control-contract/route";
import { randomSecret } from "#system";
import { PAGE_HEADERS, PackedPage } from "./pack.ts";

/** 96 bits, new for each page. */
const NONCE_BYTES = 12;

export const consoleFiles = new PackedPage("console");

/** Undefined: it was not built. */
export async function consolePage(server: ServerDescription): Promise<Response | undefined> {
  const nonce = randomSecret(NONCE_BYTES);
  const page = await consoleFiles.page(nonce);
  if (page === undefined) return undefined;
  return new Response(page.html, {
    headers: {
      ...PAGE_HEADERS,
      "content-type": page.type,
      "cache-control": "no-store",
      "content-security-policy": policyOf(server, nonce),
      "permissions-policy": "camera=(), microphone=(), geolocation=()",
    },
  });
}

/** The nonce is for the style sheets that the editor makes. Only the graph's addresses are asked, and only its player is framed. */
function policyOf(server: ServerDescription, nonce: string): string {
  const { base_url, app_base_url, microblog_base_url, ads_base_url, social_login_host } = server;
  const graph = [...new Set([base_url, app_base_url, microblog_base_url, ads_base_url, social_login_host].map((address) => new URL(address).origin))];
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${graph.join(" ")}`,
    `frame-src ${new URL(base_url).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
