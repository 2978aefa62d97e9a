import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ChunkedDecoder } from "./chunked-decoder.ts";

/** Decodes pieces of a chunked body, in which each character is a byte. `rest` is the text that the decoder did not read. */
function decoded(pieces: readonly string[], bytesMax = Number.POSITIVE_INFINITY) {
  const decoder = new ChunkedDecoder(bytesMax);
  let body = "";
  let rest = "";
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, "latin1");
    const used = decoder.decode(bytes, (from, to) => {
      body += bytes.toString("latin1", from, to);
    });
    rest += piece.slice(used);
  }
  return { state: decoder.state, body, rest };
}

describe("valid bodies", () => {
  test.each<[string, string]>([
    ["0\r\n\r\n", ""],
    ["3\r\nabc\r\n0\r\n\r\n", "abc"],
    ["0003\r\nabc\r\n2\r\n\r\n\r\n00\r\n\r\n", "abc\r\n"],
    ['1;a\r\nx\r\nA;b=c;d="e;\\"f \xfc"\r\n0123456789\r\n0;last\r\n\r\n', "x0123456789"],
    ["1\r\nx\r\n0\r\nDigest: a b\r\nX-Empty:\r\n\r\n", "x"],
  ])("%j", (text, body) => {
    expect(decoded([text])).toEqual({ state: "done", body, rest: "" });
    expect(decoded([...text])).toEqual({ state: "done", body, rest: "" });
  });

  test("if a line break is cut in half, the other half is awaited, after data, sizes and the last chunk", () => {
    const pieces = ["1\r", "\na\r", "\n0\r", "\n\r", "\n"];
    for (let count = 1; count < pieces.length; count++) expect(decoded(pieces.slice(0, count)).state).toBe("open");
    expect(decoded(pieces)).toEqual({ state: "done", body: "a", rest: "" });
  });

  test("bytes after the body are left alone", () => {
    expect(decoded(["1\r\nx\r\n0\r\n\r\nGET / HT"])).toEqual({ state: "done", body: "x", rest: "GET / HT" });
  });
});

describe("malformed bodies", () => {
  test.each([
    "zz\r\n",
    "-1\r\n",
    "+1\r\n",
    "0x1\r\n",
    "\r\n",
    " 1\r\n",
    "1 \r\n",
    "1 1\r\n",
    "100000000\r\n",
    "1\n",
    "1\r\nab\r\n",
    "1\r\na\n",
    "1\r\n\r\n\r\n\r\n",
    "1\r\na\r\r\n",
    "1\r\nab\n",
    "1\r\na\rb\n",
    "0\r\n\n",
    "0\r\n\r\r\n",
    "1;\r\n",
    "1; a\r\n",
    "1;a b\r\n",
    "1;a=\r\n",
    "1;=b\r\n",
    "1;a\0\r\n",
    "1;\xfc\r\n",
    '1;a="b\r\n',
    '1;a="b"c\r\n',
    "1;a\rb\r\n",
    "0\r\nA B\r\n",
    "0\r\nA : b\r\n",
    "0\r\nA: b\r\n c\r\n",
    "0\r\nA: b\0\r\n",
  ])("%j", (text) => {
    expect(decoded([text]).state).toBe("malformed");
    expect(decoded([...text]).state).toBe("malformed");
  });
});

test("a body above the limit is refused at the size line, before its data", () => {
  expect(decoded(["4\r\nabcd\r\n1\r\ne\r\n0\r\n\r\n"], 5)).toEqual({ state: "done", body: "abcde", rest: "" });
  expect(decoded(["4\r\nabcd\r\n2\r\nef"], 5)).toEqual({ state: "too-large", body: "abcd", rest: "ef" });
});

test.each([
  { title: "a size line of 300 bytes", text: `1;${"x".repeat(300)}\r\n` },
  { title: "a size line that does not end", text: `1;${"x".repeat(300)}` },
  { title: "trailers of 10 KB in small lines", text: `0\r\n${"X:\r\n".repeat(2_600)}` },
  { title: "trailers of 10 KB", text: `0\r\n${`X: ${"y".repeat(200)}\r\n`.repeat(50)}` },
])("$title is refused", ({ text }) => {
  expect(decoded([text]).state).toBe("malformed");
  expect(decoded([...text]).state).toBe("malformed");
});

test("a size line has at most 256 bytes, and all trailers together 8,192 with their line ends", () => {
  const sizeLine = (bytes: number): string => `0;${"x".repeat(bytes - 2)}\r\n\r\n`;
  const trailers = (count: number): string => `0\r\n${"X:\r\n".repeat(count)}\r\n`;
  for (const pieces of [(text: string) => [text], (text: string) => [...text]]) {
    expect([sizeLine(256), sizeLine(257)].map((text) => decoded(pieces(text)).state)).toEqual(["done", "malformed"]);
    expect([trailers(2_048), trailers(2_049)].map((text) => decoded(pieces(text)).state)).toEqual(["done", "malformed"]);
  }
});

const cutUp = (text: string, places: readonly number[]): string[] => {
  const cuts = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, index) => text.slice(from, cuts[index] ?? text.length));
};
const cuts = fc.array(fc.nat({ max: 10_000 }), { maxLength: 20 });
const data = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("latin1"));

describe("properties", () => {
  test("any chunks and pieces of a body give the same body", () => {
    const chunk = fc.tuple(data, fc.constantFrom("", ";a", ';a="\\"b"', ";a=b;c"));
    const trailers = fc.constantFrom("", "A: b\r\n", "A: b\r\nC:\r\n");
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 6 }), trailers, data, cuts, (chunks, lines, rest, places) => {
        const coded = `${chunks.map(([text, extension]) => `${text.length.toString(16)}${extension}\r\n${text}\r\n`).join("")}0\r\n${lines}\r\n`;
        expect(decoded(cutUp(coded + rest, places))).toEqual({ state: "done", body: chunks.map(([text]) => text).join(""), rest });
      }),
    );
  });

  test("any bytes have the same result in one piece and in many", () => {
    const noise = fc.array(fc.oneof(data, fc.constantFrom("\r\n", "3\r\nabc\r\n", "0\r\n\r\n", "5;a=b\r\n", "X: y\r\n")), { maxLength: 8 });
    fc.assert(
      fc.property(noise, cuts, fc.nat({ max: 60 }), (parts, places, bytesMax) => {
        const text = parts.join("");
        const whole = decoded([text], bytesMax);
        const cut = decoded(cutUp(text, places), bytesMax);
        expect({ state: cut.state, body: cut.body }).toEqual({ state: whole.state, body: whole.body });
        if (whole.state === "done") expect(cut.rest).toBe(whole.rest);
      }),
    );
  });
});
