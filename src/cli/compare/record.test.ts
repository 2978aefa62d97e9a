/** Tests `plaza record`: the entries of a recording, and the limits of the recording. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterThisTest } from "#harness/cleanup";
import { written } from "#harness/cli/printed";
import { temporaryFolder } from "#harness/server";
import { HarFile } from "./har.ts";
import { record } from "./record.ts";

const GIB = 1024 ** 3;

/** Runs `plaza record` until the test calls `end`, which resolves with the exit code. */
async function recording(more: Readonly<Record<string, unknown>> = {}) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      await request.bytes();
      return Response.json({ id: "5", access_token: "made-by-the-server" });
    },
  });
  afterThisTest(() => server.stop(true));
  const upstream = `http://127.0.0.1:${server.port}`;
  const out = join(temporaryFolder(), "calls.har");
  const streams = written();
  const code = record({ upstream, out, ...more });
  let url: string | undefined;
  while (url === undefined) {
    url = /use the address (\S+) in place/.exec(streams.out)?.[1];
    await Bun.sleep(1);
  }
  const base = url;
  const post = async (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<number> =>
    (await fetch(`${base}${path}`, { method: "POST", body, headers })).status;
  const end = () => {
    process.emit("SIGINT", "SIGINT");
    return code;
  };
  const entries = () => JSON.parse(readFileSync(out, "utf8")).log.entries;
  return { url: base, out, streams, post, end, entries, upstream };
}

test("an entry has everything that other programs read: address, parameters, headers, body, times and sizes", async () => {
  const { out, streams, post, end, entries, upstream, url } = await recording();
  expect(streams.out).toBe(`Plaza records into ${out}. Let your app use the address ${url} in place of ${upstream}; Ctrl-C ends the recording.\n`);
  const fromMs = Date.now();
  expect(await post("/v26.0/2001?a=1&b=%20", '{"name":"é"}', { "content-type": "application/json", "x-own": "1" })).toBe(200);
  const [entry] = entries();
  expect(entry.request).toMatchObject({
    ...{ method: "POST", url: `${upstream}/v26.0/2001?a=1&b=%20`, httpVersion: "HTTP/1.1", cookies: [], headersSize: -1, bodySize: -1 },
    queryString: [
      { name: "a", value: "1" },
      { name: "b", value: " " },
    ],
    postData: { mimeType: "application/json", text: '{"name":"é"}' },
  });
  expect(entry.request.headers).toContainEqual({ name: expect.stringMatching(/^x-own$/i), value: "1" });
  expect(entry.response).toMatchObject({
    ...{ status: 200, statusText: "", redirectURL: "", httpVersion: "HTTP/1.1", cookies: [], headersSize: -1, bodySize: -1 },
    content: { mimeType: expect.stringContaining("application/json"), size: '{"id":"5","access_token":"made-by-the-server"}'.length },
  });
  expect(entry.response.content.text).not.toContain("made-by-the-server");
  expect(Date.parse(entry.startedDateTime)).toBeWithin(fromMs - 1_000, Date.now() + 1_000);
  expect(entry.timings).toEqual({ send: 0, wait: entry.time, receive: 0 });
  expect([entry.cache, entry.time >= 0, "_secrets" in entry]).toEqual([{}, true, false]);
  expect(await end()).toBe(0);
  expect(streams.out).toEndWith(`1 requests are in ${out}\n`);
});

test("a body is stored as text, or as bytes if it has parts; a body of unknown content is omitted", async () => {
  const { post, end, entries } = await recording();
  const bytes = Uint8Array.of(0xff, 0x00, 0xfe);
  const parts = (file: Uint8Array) =>
    Buffer.concat([Buffer.from('--b\r\nContent-Disposition: form-data; name="f"\r\n\r\n'), file, Buffer.from("\r\n--b--\r\n")]);
  await post("/", "");
  await post("/", bytes, { "content-type": "application/octet-stream" });
  await post("/", parts(bytes), { "content-type": "multipart/form-data; boundary=b" });
  await post("/", parts(Buffer.from("text")), { "content-type": "multipart/form-data; boundary=b" });
  expect(await end()).toBe(0);
  const bodies = entries().map(({ request }: { request: { postData?: { text: string; _encoding?: string } } }) => request.postData);
  expect(bodies[0]).toBeUndefined();
  expect(bodies[1].text).not.toContain("\ufffd");
  expect(bodies[1]).not.toHaveProperty("_encoding");
  expect(bodies[2]).toMatchObject({ _encoding: "base64" });
  expect(Buffer.from(bodies[2].text, "base64")).toEqual(parts(bytes));
  expect(bodies[3]).toMatchObject({ text: parts(Buffer.from("text")).toString() });
  expect(bodies[3]).not.toHaveProperty("_encoding");
});

test("D-320: a body in gzip is kept as its text without its secrets, and not at all if it cannot be unpacked", async () => {
  const { post, end, entries } = await recording();
  const packed = gzipSync(JSON.stringify({ access_token: "a-secret-of-somebody", title: "ä" }));
  await post("/", packed, { "content-type": "application/json", "content-encoding": "gzip" });
  await post("/", packed.subarray(0, 20), { "content-type": "application/json", "content-encoding": "gzip" });
  expect(await end()).toBe(0);
  const [whole, broken] = entries();
  expect({ ...whole.request.postData, secrets: whole._secrets }).toEqual({
    ...{ mimeType: "application/json", text: '{"access_token":"…","title":"ä"}' },
    secrets: [{ in: "body", name: "access_token", secret: "secret-1" }],
  });
  const encodings = [whole, broken].map(({ request }) => request.headers.some(({ name }: { name: string }) => /^content-encoding$/i.test(name)));
  expect({ text: broken.request.postData.text, encodings }).toEqual({ text: "…", encodings: [false, true] });
});

test("secrets are removed, with a list of their places; equal secrets have the same name", async () => {
  const { post, end, entries, out } = await recording();
  await post("/v26.0/2001?access_token=secret-of-the-app", "name=1", {
    authorization: "Bearer secret-of-the-app",
    "content-type": "application/x-www-form-urlencoded",
  });
  await post("/v26.0/secret-of-the-app", "");
  expect(await end()).toBe(0);
  expect(readFileSync(out, "utf8")).not.toContain("secret-of-the-app");
  expect(entries()[0]._secrets).toEqual([
    { in: "query", name: "access_token", secret: "secret-1" },
    { in: "header", name: expect.stringMatching(/^authorization$/i), secret: "secret-1" },
  ]);
  expect(statSync(out).mode & 0o777).toBe(0o600);
});

test("a recording of more than a gigabyte records nothing more and says so once; requests are still served", async () => {
  const { post, end, entries, streams, out } = await recording();
  let size = GIB;
  const own = Object.getOwnPropertyDescriptor(HarFile.prototype, "size") as PropertyDescriptor;
  Object.defineProperty(HarFile.prototype, "size", { configurable: true, get: () => size });
  afterThisTest(() => Object.defineProperty(HarFile.prototype, "size", own));
  await post("/one", "");
  size = GIB + 1;
  await post("/two", "");
  expect(await post("/three", "")).toBe(200);
  expect(entries()).toHaveLength(2);
  expect(streams.err).toBe(`plaza: ${out} has ${GIB + 1} bytes; further requests are not recorded\n`);
  expect(await end()).toBe(0);
  expect(streams.out).toEndWith(`2 requests are in ${out}\n`);
});

test("a file that cannot be created, or a wrong address or port, is a usage error and leaves no port open", async () => {
  const streams = written();
  const free = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = Number(free.port);
  await free.stop(true);
  const out = join(temporaryFolder(), "none/calls.har");
  expect(await record({ upstream: "http://127.0.0.1:1", out, port })).toBe(2);
  expect(streams.err).toStartWith("plaza: --out: ");
  await Bun.serve({ port, hostname: "127.0.0.1", fetch: () => new Response() }).stop(true);
  expect(await record({ upstream: "nowhere", out })).toBe(2);
  expect(await record({ upstream: "http://127.0.0.1:1", out, port: "x" })).toBe(2);
  expect(existsSync(out)).toBe(false);
});
