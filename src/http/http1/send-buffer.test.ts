/** What is sent to a client that reads slowly: all of it, in its order, and how much is kept is counted. */
import { expect, test } from "bun:test";
import type { ByteSocket } from "./byte-socket.ts";
import { SendBuffer } from "./send-buffer.ts";

/** Takes so many bytes as it has room for. */
function open() {
  const state = { room: 0, sent: "", kept: 0, nowMs: 1_000 };
  const socket = {
    write: (data: string | Uint8Array) => {
      const bytes = Buffer.from(data as string).subarray(0, state.room);
      state.room -= bytes.length;
      state.sent += bytes.toString();
      return bytes.length;
    },
  } as ByteSocket;
  const buffer = new SendBuffer(socket, { monotonicMs: () => state.nowMs } as ConstructorParameters<typeof SendBuffer>[1], (more) => {
    state.kept += more;
  });
  const take = (bytes: number): void => {
    state.room = bytes;
    buffer.drain();
  };
  return { state, buffer, take };
}

test("what comes while something is kept waits behind it, though the socket has room again", () => {
  const { state, buffer, take } = open();
  state.room = 3;
  buffer.writeText("abcde", 5);
  state.room = 100;
  void buffer.writeBytes(Buffer.from("fgh"));
  buffer.writeText("ij", 2);
  expect(state).toMatchObject({ sent: "abc", kept: 7 });
  take(4);
  expect(state).toMatchObject({ sent: "abcdefg", kept: 3 });
  take(100);
  expect(state).toMatchObject({ sent: "abcdefghij", kept: 0 });
  expect(buffer.isEmpty).toBe(true);
});

test("who writes waits until all is taken, or the client is gone", async () => {
  const { state, buffer, take } = open();
  const ends: string[] = [];
  state.room = 2;
  await buffer.writeBytes(Buffer.from("ab"));
  const first = buffer.writeBytes(Buffer.from("cd")).then(() => ends.push("first"));
  take(1);
  await Promise.resolve();
  expect(ends).toEqual([]);
  take(1);
  await first;
  const second = buffer.writeBytes(Buffer.from("ef")).then(() => ends.push("second"));
  buffer.close();
  await second;
  expect({ ends, ...state }).toMatchObject({ ends: ["first", "second"], sent: "abcd", kept: 0 });
  await buffer.writeBytes(Buffer.from("gh"));
  buffer.writeText("gh", 2);
  expect(state).toMatchObject({ sent: "abcd", kept: 0 });
});

test("since when a client has taken nothing counts from the first that is kept, and anew with each byte that it takes", () => {
  const { state, buffer, take } = open();
  buffer.writeText("abcd", 4);
  expect(buffer.sinceMs).toBe(1_000);
  state.nowMs = 2_000;
  buffer.writeText("e", 1);
  take(0);
  expect(buffer.sinceMs).toBe(1_000);
  take(1);
  expect(buffer.sinceMs).toBe(2_000);
});
