/** D-330: checks that the server reads bodies that are compressed with gzip as if they were not compressed, within limits. */
import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterThisTest } from "#harness/cleanup";
import { type Echo, serveEcho } from "#harness/echo-graph";
import { exchange, type RawResponse } from "#harness/http/raw-http";
import { GraphError } from "#kernel/errors";
import { statedBytes, unpacked, unpackedAtOnce } from "./content-encoding.ts";

async function open() {
  const graph = await serveEcho({ limits: { bodyBytesMax: 1_000_000 } });
  afterThisTest(() => graph.stop(0));
  const post = async (body: Uint8Array, encoding = "gzip", more = "", path = "/1"): Promise<RawResponse> => {
    const head = `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Encoding: ${encoding}\r\n${more}`;
    const { responses } = await exchange(graph.port, [Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body])]);
    return responses[0] as RawResponse;
  };
  return { graph, post };
}

const seen = ({ status, body }: RawResponse): Echo => {
  expect(status).toBe(200);
  return JSON.parse(body) as Echo;
};

describe("D-330: bodies in gzip", () => {
  test("any body is read as if it had arrived without compression", async () => {
    const { post } = await open();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 2_000 }), fc.constantFrom("gzip", "GZIP", "x-gzip"), async (text, encoding) => {
        const json = gzipSync(JSON.stringify({ text: text.toWellFormed() }));
        expect(seen(await post(json, encoding)).body).toEqual({ text: text.toWellFormed() });
      }),
      { numRuns: 50 },
    );
    expect(seen(await post(gzipSync("a[b]=c+d"), "gzip", "Content-Type: application/x-www-form-urlencoded\r\n")).body).toEqual({ a: { b: "c d" } });
    const long = "x".repeat(100_000);
    expect(seen(await post(gzipSync(JSON.stringify({ long })))).body).toEqual({ long });
    // gzip data may consist of several members (RFC 1952, 2.2).
    expect(seen(await post(Buffer.concat([gzipSync("a=1&"), gzipSync("b=2")]))).body).toEqual({ a: "1", b: "2" });
  });

  test("a body in chunks, too", async () => {
    const { graph } = await open();
    const bytes = gzipSync("a=1");
    const chunk = Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n0\r\n\r\n")]);
    const head = "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n";
    const { responses } = await exchange(graph.port, [Buffer.concat([Buffer.from(head), chunk])]);
    expect(seen(responses[0] as RawResponse).body).toEqual({ a: "1" });
  });

  test("the limit of a body applies after it is unpacked", async () => {
    const { post } = await open();
    const words = Array.from({ length: 160_000 }, (_, n) => n.toString(36)).join(" ");
    expect(await post(gzipSync(JSON.stringify({ words: words.slice(0, 990_000) })))).toMatchObject({ status: 200 });
    const large = await post(gzipSync(JSON.stringify({ words: words.padEnd(1_000_001) })));
    expect({ status: large.status, says: large.body.includes("larger than 1000000 bytes") }).toEqual({ status: 413, says: true });
  });

  test("a body that unpacks to more than a hundred times its size is refused, whatever length it states", async () => {
    const { post } = await open();
    const bomb = gzipSync(Buffer.alloc(900_000));
    expect(await post(bomb)).toMatchObject({ status: 400, body: expect.stringContaining("more than 100 times its size") });
    // The last four bytes of this gzip body state a size that is smaller than the real size.
    const liar = Buffer.from(bomb);
    liar.writeUInt32LE(5, liar.length - 4);
    expect(await post(liar)).toMatchObject({ status: 400, body: expect.stringContaining("more bytes than the length at its end") });
    expect(seen(await post(gzipSync(`a=${"x".repeat(250_000)}`))).body.a).toHaveLength(250_000);
  });

  test("damaged data are refused at any cut, and the next request is read", async () => {
    const { graph } = await open();
    const whole = gzipSync("a=1&b=2");
    for (const bytes of [
      ...Array.from({ length: whole.length - 1 }, (_, length) => whole.subarray(0, length + 1)),
      Buffer.from("a=1"),
      Buffer.concat([whole, Buffer.from("x")]),
    ]) {
      const head = `POST /1 HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: ${bytes.length}\r\n\r\n`;
      const sent = Buffer.concat([Buffer.from(head), bytes, Buffer.from("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")]);
      const { responses } = await exchange(graph.port, [sent], { responses: 2 });
      // The last four bytes of gzip data are read as a length, whatever they are. A gzip body that states too large a length is refused with the
      // status 413.
      expect([400, 413]).toContain(responses[0]?.status as number);
      expect(responses[1]).toMatchObject({ status: 200, body: expect.stringContaining('"path":"/2"') });
    }
  });

  test("another encoding is refused before anything else about the request, in its error form", async () => {
    const { post } = await open();
    for (const encoding of ["br", "deflate", "zstd", "gzip, gzip", "compress"]) {
      const { status, body } = await post(Buffer.from("abc"), encoding, "", "/v26.0/1/personas");
      expect({ status, ...JSON.parse(body) }).toMatchObject({
        status: 400,
        code: 100,
        message: `(#100) The Content-Encoding ${encoding} is not supported; send the body without compression or with gzip`,
      });
    }
    expect(await post(new Uint8Array(), "br")).toMatchObject({ status: 200 });
  });

  test("the stated length is the one at the end of the data", () => {
    expect(statedBytes(gzipSync("abc"))).toBe(3);
    expect(statedBytes(new Uint8Array(3))).toBe(0);
  });

  test("a body that contains more than it states is refused, however small its stated size", async () => {
    const packed = Buffer.from(gzipSync(Buffer.alloc(60_000, "a b c")));
    for (const stated of [0, 1, 59_999]) {
      packed.writeUInt32LE(stated, packed.length - 4);
      expect(await unpacked(packed, 1_000_000)).toBeInstanceOf(GraphError);
    }
  });

  test("any bytes are returned unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
        expect(Buffer.from((await unpacked(gzipSync(bytes), 5_000)) as Uint8Array)).toEqual(Buffer.from(bytes));
        expect(Buffer.from(unpackedAtOnce(gzipSync(bytes), 5_000) as Uint8Array)).toEqual(Buffer.from(bytes));
        if (bytes.length > 1) expect(await unpacked(gzipSync(bytes), bytes.length - 1)).toBeInstanceOf(GraphError);
      }),
    );
  });
});
