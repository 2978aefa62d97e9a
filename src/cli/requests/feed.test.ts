/** `plaza feed upload`: the bytes that the command sends, and the end of the upload for which it waits. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Asked, controlStub } from "#harness/cli/control-stub";
import { written } from "#harness/cli/printed";
import { temporaryFolder } from "#harness/server";
import { uploadFeed } from "../feed.ts";

const UPLOADS = "/v1/worlds/a%2Fb/feeds/8%2F1/uploads";

function feed(...states: readonly string[]) {
  let looks = 0;
  return controlStub(({ method }: Asked) => (method === "POST" ? { n: 3 } : { n: 3, rows: 1_000, status: states[looks++] ?? states.at(-1) }));
}

const fileOf = (text: string): string => {
  const file = join(temporaryFolder(), "feed.csv");
  writeFileSync(file, text);
  return file;
};

test("sends the whole file, byte for byte, and then asks until the server has read it", async () => {
  const stub = feed("running", "running", "done");
  const streams = written();
  // The text is longer than one piece of the upload, and its length is not a multiple of the length of a piece.
  const text = "abcdefghij".repeat(30_000);
  expect(await uploadFeed(fileOf(text), { ...stub.given, world_name: "a/b", feed: "8/1", format: "csv" })).toBe(0);
  expect(stub.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `POST ${UPLOADS}?format=csv`,
    ...Array(3).fill(`GET ${UPLOADS}/3?within_ms=500`),
  ]);
  expect(stub.asked[0]?.body === text).toBe(true);
  expect(stub.headers[0]?.get("content-type")).toBe("application/octet-stream");
  expect(streams).toEqual({ out: `${JSON.stringify({ n: 3, rows: 1_000, status: "done" }, undefined, 2)}\n`, err: "" });
});

test("a feed that the server could not read is a failure, and its report is printed", async () => {
  const stub = feed("failed");
  const streams = written();
  expect(await uploadFeed(fileOf("id\n"), { ...stub.given, world_name: "a/b", feed: "8/1" })).toBe(1);
  expect(stub.asked[0]).toEqual({ method: "POST", path: UPLOADS, body: "id\n" });
  expect(streams.out).toContain('"status": "failed"');
});

test("a missing file or feed is reported in one line", async () => {
  const streams = written();
  const missing = feed("done");
  expect(await uploadFeed("nowhere.csv", { ...missing.given, feed: "1" })).toBe(2);
  expect(streams.err).toStartWith("plaza: <file>: nowhere.csv cannot be read: ");
  expect(missing.asked).toEqual([]);
  Object.assign(streams, { err: "" });
  const { given } = controlStub(() => Response.json({ error: { message: "there is no product feed 1" } }, { status: 404 }));
  expect(await uploadFeed(fileOf("id\n"), { ...given, feed: "1" })).toBe(1);
  expect(streams).toEqual({ out: "", err: "plaza: there is no product feed 1\n" });
});
