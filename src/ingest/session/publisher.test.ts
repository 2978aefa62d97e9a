import { expect, test } from "bun:test";
import type { Socket } from "bun";
import { Publisher, type PublisherOwner } from "./publisher.ts";

/** A socket that accepts at once only as many bytes as the test allows. */
function connected() {
  const line = { taken: "", capacity: 0, isTerminated: false };
  const socket = {
    write: (bytes: Uint8Array): number => {
      const taken = Buffer.from(bytes).toString("latin1", 0, line.capacity);
      line.taken += taken;
      line.capacity -= taken.length;
      return taken.length;
    },
    terminate: () => {
      line.isTerminated = true;
    },
  } as unknown as Socket<Publisher>;
  return { line, publisher: new Publisher(socket, { monotonicMs: () => 0 } as PublisherOwner) };
}

test("messages to a slow peer arrive completely and in order", () => {
  const { line, publisher } = connected();
  for (const message of ["first ", "second ", "third"]) {
    line.capacity = 4;
    publisher.send(Buffer.from(message));
  }
  for (let i = 0; i < 4; i++) {
    line.capacity = 5;
    publisher.drained();
  }
  expect(line.taken).toBe("first second third");
  // Even a single waiting byte is sent before all later bytes.
  line.capacity = 1;
  publisher.send(Buffer.from("12"));
  line.capacity = 9;
  publisher.send(Buffer.from("3"));
  publisher.drained();
  expect(line.taken).toBe("first second third123");
});

test("a peer that reads nothing is dropped when 64 KiB wait for it", () => {
  const { line, publisher } = connected();
  for (let i = 0; i < 64; i++) publisher.send(Buffer.alloc(1_024));
  expect(line.isTerminated).toBeFalse();
  publisher.send(Buffer.alloc(1));
  expect(line.isTerminated).toBeTrue();
});
