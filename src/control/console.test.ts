/** Tests the pages of the control API with their headers, and the page that is shown if another page was not built. */
import { describe, expect, spyOn, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Hono } from "hono";
import type { ServerDescription } from "#control-contract/route";
import { afterThisTest } from "#harness/cleanup";
import { openControl } from "#harness/control";
import { consoleFiles, consolePage, PackedPage, referenceFiles } from "./console.ts";

const SERVER = {
  ...{
    base_url: "http://graph:1",
    app_base_url: "http://graph:1/app",
    microblog_base_url: "http://microblog:2/v1.0",
    ads_base_url: "http://graph:1/ads",
  },
  ...{ social_login_host: "http://graph:1/login", sandbox: true },
} as unknown as ServerDescription;

/** The rules of a page's content security policy, by their names. */
const policyOf = (response: Response): Record<string, string> =>
  Object.fromEntries(
    (response.headers.get("content-security-policy") ?? "").split("; ").map((rule) => [rule.split(" ", 1)[0], rule.slice(rule.indexOf(" ") + 1)]),
  );

/** The headers of a page, which forbid that a browser guesses the page's type and that other sites use the page or learn its address. */
const HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  vary: "Accept",
};

/** The page that is shown instead of a page that was not built. */
const PLAIN_PAGE = {
  "content-type": "text/html; charset=UTF-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  "x-content-type-options": "nosniff",
  vary: "Accept",
};

/** All response headers except `Content-Length`, which main.headers.test.ts checks. */
function headersOf({ headers }: Response): Record<string, string> {
  const { "content-length": length, ...others } = Object.fromEntries(headers);
  expect(Number(length)).toBeGreaterThan(0);
  return others;
}

describe("a page that was built", () => {
  const content = "body{}".repeat(100);
  const html = "<style nonce='%NONCE%'></style><script nonce='%NONCE%'></script>";
  const packed = (type: string, text: string) => ({ type, body: Buffer.from(Bun.gzipSync(Buffer.from(text))).toString("base64") });

  /** Adds a pack of files to the packs that a build has written. */
  function build(name: string): () => void {
    const folder = join(import.meta.dir, "../../console/dist");
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${name}.pack`);
    writeFileSync(file, JSON.stringify({ "index.html": packed("text/html", html), "assets/a.css": packed("text/css", content) }));
    const remove = (): void => rmSync(file, { force: true });
    afterThisTest(remove);
    return remove;
  }

  test("is found as soon as it exists, and has its nonce in each place", async () => {
    const name = `pack-of-a-test-${process.pid}`;
    const page = new PackedPage(name);
    expect(await page.page("n")).toBeUndefined();
    const remove = build(name);
    expect(await page.page("n1")).toEqual({ html: html.replaceAll("%NONCE%", "n1"), type: "text/html" });
    // The server reads the pack of files only once.
    remove();
    expect((await page.page("n2"))?.html).toBe(html.replaceAll("%NONCE%", "n2"));
    expect(await new PackedPage(name).page("n")).toBeUndefined();
  });

  test("has files that browsers cache forever, compressed if the browser accepts that", async () => {
    const name = `pack-of-a-test-${process.pid}-files`;
    build(name);
    const page = new PackedPage(name);
    const app = new Hono();
    app.get("/assets/*", (c) => page.file(c));
    const ask = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers });
    const plain = await ask("/assets/a.css");
    expect(headersOf(plain)).toEqual({ ...HEADERS, "content-type": "text/css", "cache-control": "public, max-age=31536000, immutable" });
    expect(await plain.text()).toBe(content);
    for (const encodings of ["br", "identity"])
      expect((await ask("/assets/a.css", { "accept-encoding": encodings })).headers.has("content-encoding")).toBe(false);
    const small = await ask("/assets/a.css", { "accept-encoding": "br, gzip" });
    expect(small.headers.get("content-encoding")).toBe("gzip");
    expect(new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(await small.arrayBuffer())))).toBe(content);
    expect((await ask("/assets/b.css")).status).toBe(404);
  });
});

/** Replaces the files that a build has written. */
function built(files: PackedPage, html: ((nonce: string) => string) | undefined): void {
  const spy = spyOn(files, "page").mockImplementation(async (nonce) => (html === undefined ? undefined : { html: html(nonce), type: "text/html" }));
  afterThisTest(() => spy.mockRestore());
}

describe("the console", () => {
  test("may only request this server and its graph, and frame the graph's player", async () => {
    built(consoleFiles, (nonce) => nonce);
    const page = (await consolePage(SERVER)) as Response;
    const nonce = await page.text();
    // The nonce in the page has 96 bits.
    expect(nonce).toMatch(/^[\w-]{16}$/);
    expect(policyOf(page)).toEqual({
      ...{ "default-src": "'none'", "script-src": "'self'", "style-src": `'self' 'nonce-${nonce}'`, "img-src": "'self' data:", "font-src": "'self'" },
      ...{ "connect-src": "'self' http://graph:1 http://microblog:2", "frame-src": "http://graph:1" },
      ...{ "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'" },
    });
    expect(headersOf(page)).toMatchObject({ ...HEADERS, "cache-control": "no-store", "content-type": "text/html" });
    expect(page.headers.get("permissions-policy")).toBe("camera=(), microphone=(), geolocation=()");
    const next = (await consolePage(SERVER)) as Response;
    expect(await next.text()).not.toBe(nonce);
  });

  test("is for browsers at every address except those of the API; if it was not built, a page says so", async () => {
    const { app } = await openControl();
    const ask = async (path: string, accept = "text/html,*/*", method = "GET") => {
      const response = await app.request(path, { method, headers: { accept } });
      return { status: response.status, type: response.headers.get("content-type"), text: await response.text(), response };
    };
    built(consoleFiles, () => "the console");
    for (const path of ["/", "/worlds/default/requests"])
      expect(await ask(path)).toMatchObject({ status: 200, type: "text/html", text: "the console" });
    expect((await ask("/", "application/json")).status).toBe(404);
    expect((await ask("/v1/worlds")).status).toBe(401);
    expect((await ask("/", "text/html", "POST")).status).toBe(404);
    built(consoleFiles, undefined);
    const home = await ask("/");
    expect(home).toMatchObject({ status: 200, type: "text/html; charset=UTF-8", text: expect.stringContaining("<h1>Plaza: control API</h1>") });
    expect(headersOf(home.response)).toEqual(PLAIN_PAGE);
  });
});

describe("the API reference", () => {
  test("may only request the documents of this server and its graph, whose address is in it as text", async () => {
    const described = { ...SERVER, base_url: 'http://graph:1/"<' } as ServerDescription;
    const { app } = await openControl({}, { describeServer: () => described });
    built(referenceFiles, (nonce) => `${nonce} %GRAPH% %GRAPH%`);
    for (const path of ["/docs", "/docs/"]) {
      const page = await app.request(path);
      const text = await page.text();
      const [nonce] = text.split(" ");
      expect(text).toBe(`${nonce} http://graph:1/&quot;&lt; http://graph:1/&quot;&lt;`);
      expect(nonce).toMatch(/^[\w-]{16}$/);
      expect(policyOf(page)).toEqual({
        ...{ "default-src": "'none'", "script-src": "'self'", "style-src": `'self' 'nonce-${nonce}'`, "style-src-attr": "'unsafe-inline'" },
        ...{
          "img-src": "'self' data:",
          "connect-src": "'self' http://graph:1",
          "base-uri": "'none'",
          "form-action": "'none'",
          "frame-ancestors": "'none'",
        },
      });
      expect(headersOf(page)).toMatchObject({
        ...HEADERS,
        "cache-control": "no-store",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
      });
    }
    built(referenceFiles, undefined);
    const none = await app.request("/docs");
    expect([none.status, (await none.text()).includes("<h1>Plaza: API reference</h1>")]).toEqual([200, true]);
    expect(headersOf(none)).toEqual(PLAIN_PAGE);
  });
});
