/** The file of a multipart body, however its bytes are cut: byte by byte, in two, and whole. */
import { describe, expect, test } from "bun:test";
import { ControlError } from "./errors.ts";
import { bodyBytes, multipartFile } from "./multipart-file.ts";

const TYPE = "multipart/form-data; boundary=b";

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The name and content of the file, read in pieces of `size` bytes. */
async function fileOf(text: string, size = Number.MAX_SAFE_INTEGER, type = TYPE) {
  const { file_name, bytes } = await multipartFile(type, inPieces(text, size));
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  // Nobody is woken for nothing.
  expect(chunks.every(({ length }) => length > 0)).toBe(true);
  return { file_name, content: Buffer.concat(chunks).toString() };
}

const problemOf = async (text: string, size?: number, type?: string): Promise<string> => {
  const error = await fileOf(text, size, type).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ControlError);
  expect((error as ControlError).code).toBe("bad_request");
  return (error as Error).message;
};

const part = (head: string, content: string) => `--b\r\n${head}\r\n\r\n${content}\r\n`;
const field = (name: string, content: string) => part(`Content-Disposition: form-data; name="${name}"`, content);
const file = (name: string, content: string) =>
  part(`Content-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/csv`, content);

describe("in pieces of any size", () => {
  // What looks like the beginning of the delimiter is content.
  const content = "id,title\r\n1,\r\n-\r\n--\r\n--a\r\n--\rb\r\n\r\n--c";
  test.each([1, 2, 3, 5, 7, 16, 61, 1_000])("of %d bytes, the file is what stands between its head and the delimiter", async (size) => {
    expect(await fileOf(`${file("feed.csv", content)}--b--\r\n`, size)).toEqual({ file_name: "feed.csv", content });
    expect(await fileOf(`${field("a", "1")}${field("b", "")}${file("f", content)}${file("g", "other")}--b--`, size)).toEqual({
      file_name: "f",
      content,
    });
    expect(await fileOf(`a preamble\r\n${file("f", "")}--b--`, size)).toEqual({ file_name: "f", content: "" });
  });
});

test("only two hyphens end the body, not one of them", async () => {
  for (const behind of ["-x", "x-", "-"])
    expect(await fileOf(`--b${behind}\r\nContent-Disposition: form-data; filename="f"\r\n\r\n1\r\n--b--`)).toEqual({ file_name: "f", content: "1" });
});

test("a name may hold quotes and backslashes, and headers may be written in any case and order", async () => {
  const head = 'content-TYPE: text/csv\r\nCONTENT-disposition: form-data; FILENAME="a\\"b\\\\c.csv"; name=x';
  expect(await fileOf(`${part(head, "1")}--b--`)).toEqual({ file_name: 'a"b\\c.csv', content: "1" });
});

test("a boundary may be quoted, and has at most 70 characters", async () => {
  const [longest, longer] = ["x".repeat(70), "x".repeat(71)];
  const body = (boundary: string) => `--${boundary}\r\nContent-Disposition: form-data; filename="f"\r\n\r\n1\r\n--${boundary}--`;
  expect(await fileOf(body("a b"), 9, 'multipart/form-data; boundary="a b"')).toEqual({ file_name: "f", content: "1" });
  expect(await fileOf(body(longest), 9, `multipart/form-data; charset=x; Boundary=${longest}; y=z`)).toEqual({ file_name: "f", content: "1" });
  expect(await problemOf(body(longest), 9, "multipart/form-data")).toBe("the multipart body's Content-Type has no boundary");
  expect(await problemOf(body(longer), 9, `multipart/form-data; boundary="${longer}"`)).toBe("the multipart body ends within a part");
});

test("a body without a file says so, one that is cut off says where, at each of its bytes", async () => {
  for (const size of [1, 1_000]) {
    expect(await problemOf(`${field("a", "1")}--b--`, size)).toBe("the multipart body holds no file");
    expect(await problemOf("--b--", size)).toBe("the multipart body holds no file");
  }
  const whole = `${field("a", "1")}${file("f", "12")}--b`;
  for (let length = 0; length < whole.length; length++) expect(await problemOf(whole.slice(0, length))).toBe("the multipart body ends within a part");
  expect(await fileOf(whole)).toEqual({ file_name: "f", content: "12" });
});

test("the headers of a part may have 4,096 bytes before their end is there", async () => {
  // They begin with the line break behind the boundary.
  const head = (length: number) => `--b\r\n${"x".repeat(length - 2)}`;
  expect(await problemOf(head(4_096))).toBe("the multipart body ends within a part");
  for (const size of [100, 10_000]) expect(await problemOf(head(4_097), size)).toBe("the multipart body has a part with too long headers");
});

test("no further part is looked at behind 65,536 bytes, heads and contents together", async () => {
  // Each head with the line break before it, the content with the one that ends its head.
  const headBytes = '\r\nContent-Disposition: form-data; name="a"'.length;
  const fields = (bytes: number) => `${field("a", "x".repeat(bytes - 2 * headBytes - 2))}${field("b", "1")}`;
  expect(await fileOf(`${fields(65_536)}${file("f", "1")}--b--`, 999)).toEqual({ file_name: "f", content: "1" });
  expect(await problemOf(`${fields(65_537)}${file("f", "1")}--b--`, 999)).toBe("the multipart body holds no file");
});

/** A body in parts, of which it notes how many were asked for. */
function requestOf(parts: readonly string[], length?: string) {
  const asked = { count: 0 };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const part = parts[asked.count++];
        if (part === undefined) controller.close();
        else controller.enqueue(Buffer.from(part));
      },
    },
    { highWaterMark: 0 },
  );
  const headers = new Headers(length === undefined ? {} : { "content-length": length });
  return { asked, request: { headers, body } as unknown as Request };
}
const read = async (parts: readonly string[], length?: string): Promise<string> =>
  Buffer.from(await bodyBytes(requestOf(parts, length).request, 5)).toString();
const refused = async (parts: readonly string[], length?: string): Promise<number> => {
  const { asked, request } = requestOf(parts, length);
  const error = await bodyBytes(request, 5).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ControlError);
  expect(error).toMatchObject({ code: "body_too_large", message: "the body is larger than 5 bytes" });
  return asked.count;
};

test("a body of exactly as many bytes as it may have is read, in one part or several", async () => {
  const bodies = [read(["12345"]), read(["12", "3", "45"]), read(["12345"], "5"), read([]), read(["1"], "5")];
  expect(await Promise.all(bodies)).toEqual(["12345", "12345", "12345", "", "1"]);
  expect(await bodyBytes(new Request("http://a"), 5)).toHaveLength(0);
});

test("of a larger one nothing is read where its length says so, and else no more than up to the byte that is too many", async () => {
  expect(await refused(["123456"], "6")).toBe(0);
  expect(await refused(["123456"])).toBe(1);
  expect(await refused(["123", "456", "789"])).toBe(2);
  // What the length says is not believed.
  expect(await refused(["123", "456"], "1")).toBe(2);
});
