/**
 * Tests the reading of the file in a multipart body. `src/kernel/http-text/multipart.test.ts` tests how a multipart body is divided into its parts.
 */
import { expect, test } from "bun:test";
import { ControlError } from "./errors.ts";
import { bodyBytes, multipartFile } from "./multipart-file.ts";

const TYPE = "multipart/form-data; boundary=b";

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Reads the name and the content of the file from a body that comes in pieces of `size` bytes. */
async function fileOf(text: string, size = Number.MAX_SAFE_INTEGER, type = TYPE) {
  const { file_name, bytes } = await multipartFile(type, inPieces(text, size));
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  // The stream of the request body yields no empty chunk.
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

test.each([1, 7, 1_000])("in pieces of %d bytes, the first part with a file name is the file", async (size) => {
  const body = `${field("a", "1")}${field("b", "")}${file("f", "id,title\r\n1,")}${file("g", "other")}--b--`;
  expect(await fileOf(body, size)).toEqual({ file_name: "f", content: "id,title\r\n1," });
  expect(await fileOf(`a preamble\r\n${file("f", "")}--b--`, size)).toEqual({ file_name: "f", content: "" });
});

test("a malformed body is a bad request with the reason; the end of a file with its delimiter is not checked", async () => {
  const whole = `${field("a", "1")}${file("f", "12")}--b`;
  for (const size of [1, 1_000]) {
    for (const body of [`${field("a", "1")}--b--`, "--b--"]) expect(await problemOf(body, size)).toBe("the multipart body has no file");
    expect(await problemOf(whole.slice(0, -5), size)).toBe("the multipart body ends within a part");
    expect(await fileOf(whole, size)).toEqual({ file_name: "f", content: "12" });
  }
  expect(await problemOf(whole, 9, "multipart/form-data")).toBe("the multipart body has no valid boundary in its Content-Type");
  expect(await problemOf("nothing")).toBe("the multipart body does not contain its boundary");
});

test("no part is read after 65,536 bytes of heads and contents together", async () => {
  // The size of each part's head, including the line break before the head.
  const headBytes = '\r\nContent-Disposition: form-data; name="a"'.length;
  const fields = (bytes: number) => `${field("a", "x".repeat(bytes - 2 * headBytes))}${field("b", "")}`;
  expect(await fileOf(`${fields(65_536)}${file("f", "1")}--b--`, 999)).toEqual({ file_name: "f", content: "1" });
  expect(await problemOf(`${fields(65_537)}${file("f", "1")}--b--`, 999)).toBe("the multipart body has no file");
});

/** Makes a request with a body that comes in pieces, and counts how many pieces were read. */
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

test("a body of exactly the maximum size is read, in one part or several", async () => {
  const bodies = [read(["12345"]), read(["12", "3", "45"]), read(["12345"], "5"), read([]), read(["1"], "5")];
  expect(await Promise.all(bodies)).toEqual(["12345", "12345", "12345", "", "1"]);
  expect(await bodyBytes(new Request("http://a"), 5)).toHaveLength(0);
});

test("a larger body is not read if its length says so, otherwise only up to the first byte too many", async () => {
  expect(await refused(["123456"], "6")).toBe(0);
  expect(await refused(["123456"])).toBe(1);
  expect(await refused(["123", "456", "789"])).toBe(2);
  // The server does not trust the Content-Length that a client states.
  expect(await refused(["123", "456"], "1")).toBe(2);
});
