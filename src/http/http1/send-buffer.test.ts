/** Checks which texts of a turn of the event loop are written together, and what is written before the turn ends. */
import { expect, test } from "bun:test";
import { type ByteSocket, SendBuffer } from "./send-buffer.ts";

/** Connections whose writes are recorded in order. `endTurn` ends the current turn of the event loop. */
function opened() {
  const writes: string[] = [];
  const time = { ms: 0 };
  const ends: (() => void)[] = [];
  const clock = { monotonicMs: () => time.ms, nowMs: () => 0, afterTurn: (run: () => void) => void ends.push(run) };
  const connection = (name: string) => {
    const write = (data: string | Uint8Array): number => {
      writes.push(`${name}: ${Buffer.from(data as string).toString()}`);
      return Buffer.byteLength(data as string);
    };
    return new SendBuffer({ write } as unknown as ByteSocket, clock, () => {});
  };
  const endTurn = (): string[] => {
    for (const end of ends.splice(0)) end();
    return writes.splice(0);
  };
  const written = () => writes.splice(0);
  return { connection, endTurn, written, time };
}

test("texts wait for the end of the turn, and those of one connection are one write", () => {
  const { connection, endTurn, written } = opened();
  const [a, b] = [connection("a"), connection("b")];
  a.writeText("1", 1);
  b.writeText("2", 1);
  a.writeText("é", 2);
  expect(written()).toEqual([]);
  expect(endTurn()).toEqual(["a: 1é", "b: 2"]);
  a.writeText("3", 1);
  expect(endTurn()).toEqual(["a: 3"]);
  expect(endTurn()).toEqual([]);
});

test("the texts of eight connections, and 64 KiB of one, do not wait for the end of the turn", () => {
  const { connection, endTurn, written } = opened();
  const all = Array.from({ length: 9 }, (_, at) => connection(String(at)));
  for (const one of all) one.writeText("x", 1);
  expect(written()).toEqual(Array.from({ length: 8 }, (_, at) => `${at}: x`));
  expect(endTurn()).toEqual(["8: x"]);
  const large = "y".repeat(65_537);
  (all[0] as SendBuffer).writeText(large, large.length);
  expect(written()).toEqual([`0: ${large}`]);
  expect(endTurn()).toEqual([]);
});

test("a text waits at most a millisecond for another one", () => {
  const { connection, endTurn, written, time } = opened();
  const [a, b, c] = [connection("a"), connection("b"), connection("c")];
  a.writeText("1", 1);
  time.ms = 0.9;
  b.writeText("2", 1);
  expect(written()).toEqual([]);
  time.ms = 1;
  c.writeText("3", 1);
  expect(written()).toEqual(["a: 1", "b: 2", "c: 3"]);
  expect(endTurn()).toEqual([]);
});

test("bytes stay behind the text before them, and a closed connection sends nothing", async () => {
  const { connection, endTurn } = opened();
  const [a, b] = [connection("a"), connection("b")];
  a.writeText("head ", 5);
  await a.writeBytes(Buffer.from("body"));
  b.writeText("lost", 4);
  b.close();
  expect(endTurn()).toEqual(["a: head ", "a: body"]);
});
