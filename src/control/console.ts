/**
 * The pages of the console and of the API reference. The build packs each page with its files into one file (`tools/console/`). The pages of
 * the console and the reference need no key, because they contain no data of worlds. The console sends requests to the control API with its
 * user's key, and the API reference shows the server's API documents (D-275).
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "hono";
import type { ServerDescription } from "#control-contract/route";
import { wholeResponse } from "#http/web";
import { ROOT } from "#jobs/child-process";
import { escapedHtml } from "#kernel/text";
import { randomSecret } from "#system";
import { plainPage } from "./home.ts";

/** A file of a page. The build packs all files of a page into one file, which is in the source tree, in the package, or in the executable. */
interface PackedFile {
  readonly type: string;
  /** The content of the file, compressed with gzip and encoded in base64. */
  readonly body: string;
}

type Pack = Readonly<Record<string, PackedFile>>;

const PAGE = "index.html";
/** The folders with the pages: the first exists in a clone of the repository, the second in an installed package. */
const FOLDERS = ["console/dist", "dist"];
/** The placeholder in the page, which is replaced by the nonce. */
const NONCE_MARK = "%NONCE%";

/** Returns the text of a file in the executable, or undefined if no such file exists. The file's name begins with `name`. */
export async function embeddedText(name: string): Promise<string | undefined> {
  return Bun.embeddedFiles.find((file) => "name" in file && typeof file.name === "string" && file.name.startsWith(name))?.text();
}

const PAGE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  vary: "Accept",
};

export class PackedPage {
  readonly #name: string;
  #loading: Promise<Pack | undefined> | undefined;

  /** `name` is the name of the page's file without its extension. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Serves a file of the page. Browsers may cache the file forever, because the file's name contains a hash or a version. */
  async file(c: Context): Promise<Response> {
    const file = (await this.#pack())?.[c.req.path.slice(1)];
    if (file === undefined) return c.notFound();
    const bytes = Buffer.from(file.body, "base64");
    const headers = { ...PAGE_HEADERS, "content-type": file.type, "cache-control": "public, max-age=31536000, immutable" };
    const isPacked = c.req.header("accept-encoding")?.includes("gzip") === true;
    return isPacked ? wholeResponse(bytes, { ...headers, "content-encoding": "gzip" }) : wholeResponse(Bun.gunzipSync(bytes), headers);
  }

  /** Returns the page with the nonce; undefined if the build has not made the page. */
  async page(nonce: string): Promise<BuiltPage | undefined> {
    const page = (await this.#pack())?.[PAGE];
    if (page === undefined) return undefined;
    const html = new TextDecoder().decode(Bun.gunzipSync(Buffer.from(page.body, "base64")));
    return { html: html.replaceAll(NONCE_MARK, nonce), type: page.type };
  }

  /**
   * Reads the files of the page at its first request, so that the server starts faster. If the page is missing, the next request looks for it
   * again, because it may be built later.
   */
  async #pack(): Promise<Pack | undefined> {
    this.#loading ??= this.#read();
    const found = await this.#loading;
    if (found === undefined) this.#loading = undefined;
    return found;
  }

  async #read(): Promise<Pack | undefined> {
    const embedded = await embeddedText(this.#name);
    if (embedded !== undefined) return JSON.parse(embedded) as Pack;
    const place = FOLDERS.map((folder) => join(ROOT, folder, `${this.#name}.pack`)).find((path) => existsSync(path));
    return place === undefined ? undefined : ((await Bun.file(place).json()) as Pack);
  }
}

/** The size of a nonce: 96 bits. Each response with a page has a new nonce. */
const NONCE_BYTES = 12;

export const consoleFiles = new PackedPage("console");

/** Returns the console's page; undefined if the build has not made the page. */
export async function consolePage(server: ServerDescription): Promise<Response | undefined> {
  const nonce = randomSecret(NONCE_BYTES);
  const page = await consoleFiles.page(nonce);
  if (page === undefined) return undefined;
  const { base_url, app_base_url, microblog_base_url, ads_base_url, social_login_host } = server;
  const graph = [...new Set([base_url, app_base_url, microblog_base_url, ads_base_url, social_login_host].map((address) => new URL(address).origin))];
  // The console's editor needs the nonce for its style sheets. The console may connect only to the graph's addresses, and frame only the video
  // player.
  return pageResponse(page, nonce, ["font-src 'self'", `connect-src 'self' ${graph.join(" ")}`, `frame-src ${new URL(base_url).origin}`]);
}

interface BuiltPage {
  readonly html: string;
  readonly type: string;
}

/** Makes the response with a page. `rules` are added to the rules of the content security policy that all pages have. */
const pageResponse = ({ html, type }: BuiltPage, nonce: string, rules: readonly string[]): Response =>
  wholeResponse(html, {
    ...PAGE_HEADERS,
    "content-type": type,
    "cache-control": "no-store",
    "content-security-policy": [
      ...["default-src 'none'", "script-src 'self'", `style-src 'self' 'nonce-${nonce}'`, "img-src 'self' data:"],
      ...rules,
      ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    ].join("; "),
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
  });

/** The placeholder in the page, which is replaced by the graph's address. */
const GRAPH_MARK = "%GRAPH%";

export const referenceFiles = new PackedPage("reference");

export async function referencePage({ base_url }: ServerDescription): Promise<Response> {
  const nonce = randomSecret(NONCE_BYTES);
  const page = await referenceFiles.page(nonce);
  if (page === undefined)
    return plainPage(
      "API reference",
      `<p>The API reference is not built. <code>npm start</code>, or <code>node tools/console/reference.mjs</code>, builds it.
<p>It shows these documents: <a href="/v1/openapi.json">v1/openapi.json</a>, and <code>/openapi.json</code> and <code>/asyncapi.json</code> of the graph.`,
    );
  const html = page.html.replaceAll(GRAPH_MARK, escapedHtml(base_url));
  // D-275: the library of the API reference sets style attributes, which a nonce cannot allow. The page of the API reference may read the API
  // documents, but no data of a world.
  return pageResponse({ ...page, html }, nonce, ["style-src-attr 'unsafe-inline'", `connect-src 'self' ${new URL(base_url).origin}`]);
}
