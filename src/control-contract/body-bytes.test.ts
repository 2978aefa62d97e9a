/** How far a body is read that has to be held as a whole. */
import { expect, test } from "bun:test";
import { bodyBytes } from "./body-bytes.ts";
import { ControlError } from "./errors.ts";

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
  expect(await Promise.all([read(["12345"]), read(["12", "3", "45"]), read(["12345"], "5"), read([]), read(["1"], "5")])).toEqual([
    ...["12345", "12345", "12345", "", "1"],
  ]);
  expect(await bodyBytes(new Request("http://a"), 5)).toHaveLength(0);
});

test("of a larger one nothing is read where its length says so, and else no more than up to the byte that is too many", async () => {
  expect(await refused(["123456"], "6")).toBe(0);
  expect(await refused(["123456"])).toBe(1);
  expect(await refused(["123", "456", "789"])).toBe(2);
  // What the length says is not believed.
  expect(await refused(["123", "456"], "1")).toBe(2);
});
