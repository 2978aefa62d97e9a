import { expect, test } from "bun:test";
import { Connection } from "./connection.ts";

test("a stream of a server in the same process ends when its reader gives the signal", async () => {
  const { promise: ended, resolve: cancel } = Promise.withResolvers<unknown>();
  const fetch = async (): Promise<Response> => new Response(new ReadableStream({ cancel }));
  const ending = new AbortController();
  const stream = await new Connection("http://127.0.0.1:1", "key", fetch).open("worlds/default/requests/stream", ending.signal);
  const read = stream.getReader().read();
  ending.abort("the record has ended");
  expect(await ended).toBe("the record has ended");
  expect(await read.catch((error: unknown) => error)).toBe("the record has ended");
});
