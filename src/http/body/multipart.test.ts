import { describe, expect, test } from "bun:test";
import type { UploadedFile } from "#graph/pipeline/request";
import { parseMediaType, parseMultipart } from "./multipart.ts";
import { ParameterTree } from "./parameter-tree.ts";

function parse(text: string, boundary: string | undefined = "b") {
  const into = { tree: new ParameterTree(10), files: new Map<string, UploadedFile>() };
  const defect = parseMultipart(Buffer.from(text, "latin1"), boundary, into);
  const files = [...into.files].map(([name, { filename, contentType, bytes }]) => [
    name,
    filename,
    contentType,
    Buffer.from(bytes).toString("latin1"),
  ]);
  return { defect: defect?.message, parameters: { ...into.tree.parameters() }, files };
}

const part = (head: string, content: string, boundary = "b") => `--${boundary}\r\n${head}\r\n\r\n${content}\r\n`;
const named = (name: string) => `Content-Disposition: form-data; name="${name}"`;

describe("RFC 7578: a multipart body", () => {
  test("begins with its boundary or behind a preamble, and what stands behind its end is read by nobody", () => {
    const whole = `${part(named("a"), "1")}--b--`;
    for (const text of [whole, `preamble\r\n${whole}`, `${whole}\r\nepilogue`, whole.replace("--b\r\n", "--b \t\r\n")])
      expect(parse(text)).toEqual({ defect: undefined, parameters: { a: "1" }, files: [] });
    expect(parse("--b--")).toEqual({ defect: undefined, parameters: {}, files: [] });
  });

  test("has a boundary of 1 to 70 characters", () => {
    const of = (length: number) => {
      const boundary = "x".repeat(length);
      return parse(`${part(named("a"), "1", boundary)}--${boundary}--`, boundary).defect;
    };
    expect([of(1), of(70)]).toEqual([undefined, undefined]);
    for (const defect of [
      of(71),
      parse("--b--", "").defect,
      parseMultipart(Buffer.from("--b--"), undefined, { tree: new ParameterTree(1), files: new Map() })?.message,
    ])
      expect(defect).toContain("no valid boundary");
  });

  test("has parts whose headers take 4,096 bytes at most, with the line break before them", () => {
    const of = (bytes: number) => {
      const head = `${named("a")}\r\nX: `;
      return parse(`${part(head + "x".repeat(bytes - 2 - head.length), "1")}--b--`).defect;
    };
    expect(of(4_096)).toBeUndefined();
    expect(of(4_097)).toContain("too long headers");
  });

  test.each([
    ["does not contain its boundary", "nothing"],
    ["does not contain its boundary", "x--b\r\n"],
    ["has text behind a boundary", "--bx\r\n"],
    ["has text behind a boundary", "--b\rx"],
    ["has text behind a boundary", "--b-x"],
    ["ends within a part", "--b\r\n"],
    ["ends within a part", part(named("a"), "1")],
    ["ends within a part", `--b\r\n${named("a")}\r\n--b--`],
    ["has a part without a name", `${part("Content-Type: text/plain", "1")}--b--`],
    ["has a part without a name", `${part('Content-Disposition: attachment; name="a"', "1")}--b--`],
    ["has a part without a name", "--b\r\n\r\n1\r\n--b--"],
    ["has a part whose headers are not UTF-8", `${part(`${named("a")}\xff`, "1")}--b--`],
  ])("is refused where it %s", (problem, text) => {
    expect(parse(text).defect).toContain(problem);
  });

  test("may write its headers without a blank or with one on each side of the colon, and end a part without content at its empty line", () => {
    const file = (colon: string) => `Content-Type${colon}text/csv\r\nContent-Disposition${colon}form-data;name=f;filename=a.csv`;
    for (const colon of [":", ": ", " : "]) expect(parse(`${part(file(colon), "1")}--b--`).files).toEqual([["f", "a.csv", "text/csv", "1"]]);
    expect(parse(`--b\r\n${named("a")}\r\n\r\n--b--`)).toEqual({ defect: undefined, parameters: { a: "" }, files: [] });
  });

  test("its files keep their name, their first type and every byte; of two with one name the later counts", () => {
    const file = (filename: string, type: string) => `${named("f")}; filename="${filename}"${type}`;
    const text = `${part(file("a.txt", ""), "old")}${part(file('%22b%0D%0A%41\\"', "\r\nContent-Type: text/csv\r\nContent-Type: x/y"), "\r\n--c\xff\r\n")}--b--`;
    expect(parse(text)).toEqual({ defect: undefined, parameters: {}, files: [["f", '"b\r\n%41"', "text/csv", "\r\n--c\xff\r\n"]] });
    expect(parse(`${part(file("a.txt", ""), "1")}--b--`).files).toEqual([["f", "a.txt", "application/octet-stream", "1"]]);
    // The blank behind the colon may be left out.
    expect(parse(`${part(file("a.txt", "\r\nContent-Type:text/csv"), "1")}--b--`).files).toEqual([["f", "a.txt", "text/csv", "1"]]);
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
