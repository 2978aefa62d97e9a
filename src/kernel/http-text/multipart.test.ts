/** RFC 7578: checks that the multipart parser yields the same parts whether the bytes of a body arrive one by one, in two pieces, or all at once. */
import { describe, expect, test } from "bun:test";
import { MultipartParser, parseMediaType } from "./multipart.ts";

/** Reads a multipart body in chunks of `size` bytes. Each character of the text is a byte. */
function parse(text: string, given: { boundary?: string; size?: number | undefined; type?: string } = {}) {
  const { boundary = "b", size = Number.MAX_SAFE_INTEGER } = given;
  const { type = `multipart/form-data; boundary=${boundary}` } = given;
  const parts: { name: string; filename: string | undefined; contentType: string | undefined; content: string }[] = [];
  let ends = 0;
  try {
    const parser = new MultipartParser(type);
    for (let at = 0; at < text.length; at += size) {
      for (const piece of parser.push(Buffer.from(text.slice(at, at + size), "latin1"))) {
        const last = parts.at(-1);
        if (piece === "end") ends++;
        else if (!(piece instanceof Uint8Array))
          parts.push({ name: piece.name, filename: piece.filename, contentType: piece.contentType, content: "" });
        else if (last !== undefined) {
          // The multipart parser yields no empty pieces.
          expect(piece.length).toBeGreaterThan(0);
          last.content += Buffer.from(piece).toString("latin1");
        }
      }
    }
    parser.end();
    expect(ends).toBe(parts.length);
    return { parts };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

const part = (head: string, content: string, boundary = "b") => `--${boundary}\r\n${head}\r\n\r\n${content}\r\n`;
const named = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const text = (name: string, content: string) => ({ name, filename: undefined, contentType: undefined, content });
const SIZES = [1, 2, 3, 5, 7, 16, 61, 1_000];

describe("a multipart body", () => {
  test.each(SIZES)("in chunks of %d bytes begins with its boundary or after a preamble, and bytes after its end are not read", (size) => {
    const whole = `${part(named("a"), "1")}--b--`;
    for (const body of [whole, `preamble\r\n${whole}`, `${whole}\r\nepilogue`, whole.replace("--b\r\n", "--b \t\r\n")])
      expect(parse(body, { size })).toEqual({ parts: [text("a", "1")] });
    expect(parse("--b--", { size })).toEqual({ parts: [] });
  });

  test("has a boundary of 1 to 70 characters, quoted or not", () => {
    const of = (length: number) => {
      const boundary = "x".repeat(length);
      return parse(`${part(named("a"), "1", boundary)}--${boundary}--`, { boundary }).problem;
    };
    expect([of(1), of(70)]).toEqual([undefined, undefined]);
    for (const problem of [of(71), parse("--b--", { boundary: "" }).problem, parse("--b--", { type: "multipart/form-data" }).problem])
      expect(problem).toContain("no valid boundary");
    const type = 'multipart/form-data; charset=x; Boundary="a b"; y=z';
    expect(parse(`${part(named("a"), "1", "a b")}--a b--`, { type, size: 9 }).parts).toHaveLength(1);
  });

  test("has parts with headers of at most 4,096 bytes, including the line break before them", () => {
    const of = (bytes: number, size?: number) => {
      const head = `${named("a")}\r\nX: `;
      return parse(`${part(head + "x".repeat(bytes - 2 - head.length), "1")}--b--`, { size }).problem;
    };
    for (const size of [100, 10_000]) expect([of(4_096, size), of(4_097, size)]).toEqual([undefined, "has a part with too long headers"]);
    // The parser refuses headers that are too long before the end of the headers has arrived.
    expect(parse(`--b\r\n${"x".repeat(4_098)}`).problem).toBe("has a part with too long headers");
  });

  test.each([
    ["does not contain its boundary", ""],
    ["does not contain its boundary", "nothing"],
    ["does not contain its boundary", "x--b\r\n"],
    ["has text after a boundary", "--bx\r\n"],
    ["has text after a boundary", "--b\rx"],
    ["has text after a boundary", "--b-x"],
    ["ends within a part", "--b\r\n"],
    ["ends within a part", part(named("a"), "1")],
    ["ends within a part", `--b\r\n${named("a")}\r\n--b--`],
    ["has a part without a name", `${part("Content-Type: text/plain", "1")}--b--`],
    ["has a part without a name", `${part('Content-Disposition: attachment; name="a"', "1")}--b--`],
    ["has a part without a name", `${part('Content-Disposition: form-data; filename="a"', "1")}--b--`],
    ["has a part without a name", "--b\r\n\r\n1\r\n--b--"],
    ["has a part whose headers are not UTF-8", `${part(`${named("a")}\xff`, "1")}--b--`],
  ])("is refused if it %s", (problem, body) => {
    for (const size of [1, 3, 1_000]) expect(parse(body, { size })).toEqual({ problem });
  });

  test("that is cut off at any byte is refused", () => {
    const whole = `${part(named("a"), "1")}${part(`${named("f")}; filename=f`, "12")}--b--`;
    for (let length = 0; length < whole.length; length++)
      expect(parse(whole.slice(0, length)).problem).toBe(length < 3 ? "does not contain its boundary" : "ends within a part");
    expect(parse(whole).parts).toHaveLength(2);
  });

  test("may write its headers in any case and order, with or without blanks, and end an empty part at its empty line", () => {
    const file = (colon: string) => `content-TYPE${colon}text/csv\r\nCONTENT-disposition${colon}form-data;NAME=f;filename=a.csv`;
    const expected = { parts: [{ name: "f", filename: "a.csv", contentType: "text/csv", content: "1" }] };
    for (const colon of [":", ": ", " : "]) expect(parse(`${part(file(colon), "1")}--b--`)).toEqual(expected);
    for (const size of SIZES) expect(parse(`--b\r\n${named("a")}\r\n\r\n--b--`, { size })).toEqual({ parts: [text("a", "")] });
  });

  test.each(SIZES)("in chunks of %d bytes keeps every byte of a part: text like the beginning of a delimiter is content", (size) => {
    const content = "id,title\r\n1,\r\n-\r\n--\r\n--a\r\n--\rb\r\n\r\n--c\xff\r\n";
    const body = `${part(named("a"), "1")}${part(named("b"), "")}${part(`${named("f")}; filename="%22b%0D%0A%41\\""\r\nContent-Type: x/y\r\nContent-Type: z`, content)}--b--`;
    expect(parse(body, { size })).toEqual({
      parts: [text("a", "1"), text("b", ""), { name: "f", filename: '"b\r\n%41"', contentType: "x/y", content }],
    });
  });
});

test.each([
  ["text/HTML", "text/html", {}],
  [" text/html ", "text/html", {}],
  [" multipart/Form-Data ; boundary=abc ", "multipart/form-data", { boundary: "abc" }],
  ['a/b; X="1; 2"; y=3', "a/b", { x: "1; 2", y: "3" }],
  ['a/b;x="\\"q\\"";x=2', "a/b", { x: '"q"' }],
  ['a/b;x="C:\\\\dir"', "a/b", { x: "C:\\dir" }],
  ["a/b; x", "a/b", {}],
  ["", "", {}],
])("the media type %p", (text, type, parameters) => {
  const found = parseMediaType(text);
  expect({ type: found.type, parameters: Object.fromEntries(found.parameters) }).toEqual({ type, parameters });
});
