import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { JsonNumber } from "../pipeline/request.ts";
import { parseBody } from "./body.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (content: string | Uint8Array, contentType?: string, countMax = 1_000) => {
  const body = parseBody(typeof content === "string" ? bytes(content) : content, contentType, countMax);
  return { ...body, parameters: { ...body.parameters } };
};
const problem = (content: string | Uint8Array, contentType?: string): string => {
  const { defect } = read(content, contentType);
  expect(defect?.entry.status).toBe(400);
  expect(defect?.entry.code).toBe(100);
  return defect?.message ?? "";
};
const anyText = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed());
const FORM = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data; boundary=X";

describe("D-34: JSON bodies", () => {
  test("an object is the parameters", () => {
    expect(read('{"name":"vip","n":1,"list":[1,{"a":null}]}', "application/json").parameters).toEqual({ name: "vip", n: 1, list: [1, { a: null }] });
    expect(read('{"a":"ü"}', "application/json; charset=UTF-8").parameters).toEqual({ a: "ü" });
    expect(read('{"a":1}', 'Application/JSON ; charset="utf-8"').parameters).toEqual({ a: 1 });
    expect(read('{"a":1}', "application/vnd.api+json").parameters).toEqual({ a: 1 });
  });

  test("a long number keeps its digits", () => {
    expect(read('{"id":9223372036854775807}', "application/json").parameters).toEqual({ id: new JsonNumber("9223372036854775807") });
  });

  test("anything else than an object", () => {
    for (const text of ["[1]", "1", '"a"', "null", "true", "12345678901234567890"])
      expect(problem(text, "application/json")).toBe("(#100) The request body must be a JSON object");
    expect(problem('{"a":', "application/json")).toBe("(#100) The request body is not valid JSON");
    expect(problem(`{"a":${"[".repeat(5_000)}`, "application/json")).toContain("nests deeper than");
  });

  test("empty, blank, and with a byte order mark", () => {
    for (const text of ["", "  \r\n"]) expect(read(text, "application/json")).toMatchObject({ parameters: {}, defect: undefined });
    expect(read('\ufeff{"a":1}', "application/json").parameters).toEqual({ a: 1 });
    expect(read("\ufeffa=1", FORM).parameters).toEqual({ a: "1" });
  });

  test("too many members", () => {
    expect(read('{"a":1,"b":2,"access_token":"t"}', "application/json", 1)).toMatchObject({ parameters: { a: 1, access_token: "t" } });
    expect(read('{"a":1,"b":2}', "application/json", 1).defect?.message).toBe("(#100) More than 1 parameters");
  });
});

describe("D-34: forms, and bodies without a type", () => {
  test("a form", () => {
    expect(read("name=a+b%26&list[]=1&list[]=2\r\n", FORM).parameters).toEqual({ name: "a b&", list: ["1", "2"] });
    expect(problem("a=%zz", FORM)).toContain("Param a is not percent-encoded UTF-8");
    // The text of the result is the body as the server received it.
    expect(read("name=a+b%26\r\n", FORM).text).toBe("name=a+b%26\r\n");
  });

  test("a form whose first name shares bytes with a byte order mark is a form", () => {
    for (const name of ["\uff41", "\ufec0", "a\u00ff", "\u00bb\u00bf"]) expect(read(`${name}[0]=1`, FORM)).toMatchObject({ defect: undefined });
  });

  test("JSON that is sent as a form is refused as such, and gives no parameters", () => {
    for (const type of [FORM, `${FORM}; charset=UTF-8`, "multipart/form-data; boundary=X"]) {
      for (const text of ['{"name":"vip"}', ' \r\n\t{"a":1', '\ufeff{"a":1}', "[1]", "{}"]) {
        const message = problem(text, type);
        expect(message).toContain(`is JSON, but its Content-Type is ${type.split(";")[0]}; send it as application/json`);
        expect(read(text, type).parameters).toEqual({});
      }
    }
    expect(read("%7B%22a%22:1%7D=1", FORM)).toMatchObject({ parameters: { '{"a":1}': "1" }, defect: undefined });
    expect(read(" ", FORM).defect).toBeUndefined();
  });

  test("an absent body has no type, and one byte is a body", () => {
    for (const type of [undefined, "", "application/json", FORM, MULTIPART, "text/plain", "application/octet-stream"]) {
      expect({ type, ...read("", type) }).toMatchObject({ type, parameters: {}, defect: undefined, text: "" });
    }
    for (const type of [undefined, "", FORM]) expect({ type, ...read("a", type) }).toMatchObject({ type, parameters: { a: "" }, defect: undefined });
  });

  test("without a type the text decides", () => {
    expect(read(' {"a":1}').parameters).toEqual({ a: 1 });
    expect(read("a=1&b").parameters).toEqual({ a: "1", b: "" });
    expect(problem("[1]")).toContain("must be a JSON object");
  });

  test("an unknown type is tried, then named in the error", () => {
    expect(read('{"a":1}', "text/plain").parameters).toEqual({ a: 1 });
    expect(read("a=1&b=2\n", "text/plain;charset=UTF-8").parameters).toEqual({ a: "1", b: "2" });
    expect(problem("hello world", "text/plain")).toContain("The Content-Type text/plain is not supported");
    expect(problem(new Uint8Array([0xff, 0xfe, 0]), "application/octet-stream")).toContain("application/octet-stream");
    expect(problem("<a/>", "text/xml")).toContain("text/xml");
  });

  test("only UTF-8", () => {
    expect(problem("a=1", `${FORM}; charset=iso-8859-1`)).toContain("charset iso-8859-1 is not supported");
    expect(problem(new Uint8Array([0x61, 0x3d, 0xff]), FORM)).toBe("(#100) The request body is not valid UTF-8");
    expect(problem(new Uint8Array([0x7b, 0xc3, 0x28, 0x7d]), "application/json")).toBe("(#100) The request body is not valid UTF-8");
    expect(problem(new Uint8Array([0xff]))).toBe("(#100) The request body is not valid UTF-8");
  });
});

const part = (head: string, content: string): string => `--X\r\n${head}\r\n\r\n${content}\r\n`;

describe("D-34: multipart bodies", () => {
  test("text parts are parameters, parts with a file name files", () => {
    const content = `preamble\r\n${part('Content-Disposition: form-data; name="a[b]"', "hällo")}${part(
      'content-type: text/csv\r\nContent-Disposition: form-data; name="file"; filename="x \\"1\\" ü.csv"',
      "1,2\r\n3",
    )}--X--\r\nepilogue`;
    const { parameters, files, defect, text } = read(content, MULTIPART);
    expect(defect).toBeUndefined();
    expect(JSON.stringify(parameters)).toBe('{"a":{"b":"hällo"}}');
    expect(files.get("file")).toMatchObject({ filename: 'x "1" ü.csv', contentType: "text/csv" });
    expect(new TextDecoder().decode(files.get("file")?.bytes)).toBe("1,2\r\n3");
    expect(text).toContain("bytes)");
  });

  test("empty values, empty bodies, quoted boundaries, padding", () => {
    expect(read(`${part('Content-Disposition: form-data; name="a"', "")}--X--`, MULTIPART).parameters).toEqual({ a: "" });
    expect(read("--X--\r\n", MULTIPART)).toMatchObject({ parameters: {}, defect: undefined });
    expect(read("--X y \r\nContent-Disposition: form-data; name=a\r\n\r\n--X\r\n--X y--", 'multipart/form-data; boundary="X y"').parameters).toEqual({
      a: "--X",
    });
  });

  test("wrong names are refused like those of a form", () => {
    const values = (...names: string[]): string =>
      `${names.map((name) => part(`Content-Disposition: form-data; name="${name}"`, "1")).join("")}--X--`;
    expect(read(values("a", "b"), MULTIPART, 2)).toMatchObject({ parameters: { a: "1", b: "1" }, defect: undefined });
    const tooMany = read(values("a", "b", "access_token"), MULTIPART, 1);
    expect(tooMany.defect?.message).toBe("(#100) More than 1 parameters");
    expect(tooMany.parameters).toEqual({ a: "1", access_token: "1" });
    expect(read(values("a", "a[b]"), MULTIPART).defect?.message).toBe("(#100) Param a has two forms that exclude each other, such as a=1 and a[b]=2");
  });

  test("repeated names are a list", () => {
    const head = 'Content-Disposition: form-data; name="a"';
    expect(read(`${part(head, "1")}${part(head, "2")}--X--`, MULTIPART).parameters).toEqual({ a: ["1", "2"] });
  });

  test("a part keeps every byte of a file", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (content) => {
        const body = Buffer.concat([
          Buffer.from('--fence-7\r\nContent-Disposition: form-data; name="f"; filename="f.bin"\r\n\r\n'),
          content,
          Buffer.from("\r\n--fence-7--\r\n"),
        ]);
        const { files } = parseBody(body, "multipart/form-data; boundary=fence-7", 10);
        expect(Buffer.compare(Buffer.from(files.get("f")?.bytes ?? []), Buffer.from(content))).toBe(0);
      }),
    );
  });

  test.each([
    ["garbage", MULTIPART],
    ['--X\r\nContent-Disposition: form-data; name="a"\r\n\r\nunfinished', MULTIPART],
    ['--X\nContent-Disposition: form-data; name="a"\n\nx\n--X--', MULTIPART],
    [`${part("Content-Type: text/plain", "x")}--X--`, MULTIPART],
    [`${part("Content-Disposition: attachment; name=a", "x")}--X--`, MULTIPART],
    [`--Xtra\r\n\r\n`, MULTIPART],
    ["--X\r\n\r\nx\r\n--X--", MULTIPART],
    [`--X\r\n${"a".repeat(5_000)}\r\n\r\nx\r\n--X--`, MULTIPART],
    ["--X--", "multipart/form-data"],
    ["--X--", `multipart/form-data; boundary=${"X".repeat(71)}`],
  ])("malformed, case %#", (content, type) => {
    expect(problem(content, type)).toContain("multipart body");
  });

  test("text that is not UTF-8 is refused by name", () => {
    expect(problem(Buffer.from(`${part('Content-Disposition: form-data; name="a"', "\xff")}--X--`, "latin1"), MULTIPART)).toBe(
      "(#100) Param a is not UTF-8",
    );
  });
});

describe("properties", () => {
  test("any text is the same from JSON, form and multipart", () => {
    fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.tuple(anyText, anyText), { selector: ([name]) => name, minLength: 1, maxLength: 8 }), async (pairs) => {
        const entries = pairs.filter(([name]) => !/[[\r\n]/.test(name) && name !== "");
        const json = read(JSON.stringify(Object.fromEntries(entries)), "application/json");
        const form = read(entries.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&"), FORM);
        const data = new FormData();
        // FormData changes lone line breaks, so the test sends them only as JSON and as forms.
        const unbroken = entries.map(([name, value]) => [name, value.replaceAll(/[\r\n]/g, " ")] as const);
        for (const [name, value] of unbroken) data.append(name, value);
        const sent = new Response(data);
        const type = sent.headers.get("content-type") ?? "";
        const multipart = read(new Uint8Array(await sent.arrayBuffer()), type);
        expect({ json: json.defect, form: form.defect }).toEqual({ json: undefined, form: undefined });
        for (const [name, value] of entries) {
          expect(json.parameters[name]).toBe(value);
          expect(form.parameters[name]).toBe(value);
        }
        if (unbroken.length > 0) expect(multipart.defect).toBeUndefined();
        for (const [name, value] of unbroken) expect(multipart.parameters[name]).toBe(value);
      }),
    );
  });

  test("any bytes of any type are read without a throw", () => {
    const types = fc.constantFrom(undefined, "", "application/json", FORM, MULTIPART, "text/plain", ";;=", 'multipart/form-data; boundary="');
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .array(fc.constantFrom("--X", "\r\n", "--", "a=b", "{", "}", '"', "Content-Disposition: form-data; name=a", "%"), { maxLength: 20 })
        .map((units) => bytes(units.join(""))),
    );
    fc.assert(
      fc.property(content, types, (given, type) => {
        const { defect } = parseBody(given, type, 5);
        if (defect !== undefined) expect(defect.entry.code).toBe(100);
      }),
      { numRuns: 1_000 },
    );
  });
});

test("D-337: a multipart body has 2,000 parts at most, and the rest of it is not read", () => {
  const part = (name: string) => `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`;
  const body = (count: number, end = "--X--\r\n") => `${Array.from({ length: count }, (_, at) => part(`p${at}`)).join("")}${end}`;
  expect(problem(body(2_000), MULTIPART)).toBe("(#100) More than 1000 parameters");
  for (const end of ["--X--", `${part("last")}--X\r\nno head`]) expect(problem(body(2_001, end), MULTIPART)).toContain("has more than 2000 parts");
});
