/**
 * The console: a page that uses this API, from one file that the build has written (`tools/console/build.mjs`). It needs no key and shows
 * nothing of the worlds; what it shows it asks for, with the key that its user gives.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "hono";
import type { ServerDescription } from "#control-contract/route";
import { randomSecret } from "#system";

interface PackedFile {
  readonly type: string;
  /** Gzip, base64. */
  readonly body: string;
}

type Pack = Readonly<Record<string, PackedFile>>;

const NAME = "console.pack";
const PAGE = "index.html";
/** In the page, in place of a nonce. */
const NONCE_MARK = "%NONCE%";
/** 96 bits, new for each page. */
const NONCE_BYTES = 12;

/** Beside the sources and `build/`, in a package, and in the executable. */
const places = [
  join(import.meta.dirname, "../../console/dist", NAME),
  join(import.meta.dirname, "../console/dist", NAME),
  join(import.meta.dirname, NAME),
];

async function readPack(): Promise<Pack | undefined> {
  const embedded = Bun.embeddedFiles.find((file) => "name" in file && typeof file.name === "string" && file.name.startsWith("console"));
  if (embedded !== undefined) return JSON.parse(await embedded.text()) as Pack;
  const place = places.find((path) => existsSync(path));
  return place === undefined ? undefined : ((await Bun.file(place).json()) as Pack);
}

let loading: Promise<Pack | undefined> | undefined;
/** Read when a page is asked for: a start has no need of it. */
const pack = (): Promise<Pack | undefined> => {
  loading ??= readPack();
  return loading;
};

const HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  vary: "Accept",
};

/** The names of files hold a hash of what is in them. */
export async function consoleFile(c: Context): Promise<Response> {
  const file = (await pack())?.[c.req.path.slice(1)];
  if (file === undefined) return c.notFound();
  const bytes = Buffer.from(file.body, "base64");
  const headers = { ...HEADERS, "content-type": file.type, "cache-control": "public, max-age=31536000, immutable" };
  const isPacked = c.req.header("accept-encoding")?.includes("gzip") === true;
  return new Response(isPacked ? bytes : Bun.gunzipSync(bytes), { headers: isPacked ? { ...headers, "content-encoding": "gzip" } : headers });
}

/** Undefined: it was not built. */
export async function consolePage(server: ServerDescription): Promise<Response | undefined> {
  const page = (await pack())?.[PAGE];
  if (page === undefined) return undefined;
  const nonce = randomSecret(NONCE_BYTES);
  const html = new TextDecoder().decode(Bun.gunzipSync(Buffer.from(page.body, "base64"))).replaceAll(NONCE_MARK, nonce);
  return new Response(html, {
    headers: {
      ...HEADERS,
      "content-type": page.type,
      "cache-control": "no-store",
      "content-security-policy": policyOf(server, nonce),
      "permissions-policy": "camera=(self), microphone=(self), geolocation=()",
    },
  });
}

/** The nonce is for the style sheets that the editor makes. Only the graph's addresses and its WebSocket for live video are asked, and only its player is framed. */
function policyOf(server: ServerDescription, nonce: string): string {
  const { base_url, app_base_url, microblog_base_url, ads_base_url, social_login_host, live_url } = server;
  const graph = [...new Set([base_url, app_base_url, microblog_base_url, ads_base_url, social_login_host].map((address) => new URL(address).origin))];
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "media-src 'self' blob:",
    `connect-src 'self' ${[...graph, ...(live_url === undefined ? [] : [live_url])].join(" ")}`,
    `frame-src ${new URL(base_url).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
