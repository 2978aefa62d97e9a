/** Static files of a page, in one file that the build has written: beside the sources and `build/`, in a package, and in the executable. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "hono";

interface PackedFile {
  readonly type: string;
  /** Gzip, base64. */
  readonly body: string;
}

type Pack = Readonly<Record<string, PackedFile>>;

const PAGE = "index.html";
/** In the page, in place of a nonce. */
const NONCE_MARK = "%NONCE%";

export const PAGE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  vary: "Accept",
};

export class PackedPage {
  readonly #name: string;
  #loading: Promise<Pack | undefined> | undefined;

  /** `name`: of the file, without its ending. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Its files' names hold a hash of what is in them, or a version. */
  async file(c: Context): Promise<Response> {
    const file = (await this.#pack())?.[c.req.path.slice(1)];
    if (file === undefined) return c.notFound();
    const bytes = Buffer.from(file.body, "base64");
    const headers = { ...PAGE_HEADERS, "content-type": file.type, "cache-control": "public, max-age=31536000, immutable" };
    const isPacked = c.req.header("accept-encoding")?.includes("gzip") === true;
    return new Response(isPacked ? bytes : Bun.gunzipSync(bytes), { headers: isPacked ? { ...headers, "content-encoding": "gzip" } : headers });
  }

  /** The page itself, with the nonce in its place. Undefined: it was not built. */
  async page(nonce: string): Promise<{ readonly html: string; readonly type: string } | undefined> {
    const page = (await this.#pack())?.[PAGE];
    if (page === undefined) return undefined;
    const html = new TextDecoder().decode(Bun.gunzipSync(Buffer.from(page.body, "base64")));
    return { html: html.replaceAll(NONCE_MARK, nonce), type: page.type };
  }

  /** Read when a page is asked for: a start has no need of it. One that is not there yet may be built meanwhile. */
  async #pack(): Promise<Pack | undefined> {
    this.#loading ??= this.#read();
    const found = await this.#loading;
    if (found === undefined) this.#loading = undefined;
    return found;
  }

  async #read(): Promise<Pack | undefined> {
    const embedded = Bun.embeddedFiles.find((file) => "name" in file && typeof file.name === "string" && file.name.startsWith(this.#name));
    if (embedded !== undefined) return JSON.parse(await embedded.text()) as Pack;
    const name = `${this.#name}.pack`;
    const folders = ["../../console/dist", "../console/dist", "."];
    const place = folders.map((folder) => join(import.meta.dirname, folder, name)).find((path) => existsSync(path));
    return place === undefined ? undefined : ((await Bun.file(place).json()) as Pack);
  }
}
