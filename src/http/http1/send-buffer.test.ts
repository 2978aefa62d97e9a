/** Checks which texts of a turn of the event loop are written together, and what is written before the turn ends. */
import { expect, test } from "bun:test";
import { type ByteSocket, SendBuffer, Turn } from "./send-buffer.ts";

/** Connections whose writes are recorded in order. `endTurn` ends the current turn of the event loop. */
function opened() {
  const writes: string[] = [];
  const time = { ms: 0 };
  const ends: (() => void)[] = [];
  const clock = { monotonicMs: () => time.ms, nowMs: () => 0, afterTurn: (run: () => void) => void ends.push(run) };
  const turn = new Turn(clock);
  const connection = (name: string) => {
    const write = (data: string | Uint8Array): number => {
      writes.push(`${name}: ${Buffer.from(data as string).toString()}`);
      return Buffer.byteLength(data as string);
    };
    return new SendBuffer({ write } as unknown as ByteSocket, turn, () => {});
  };
  const endTurn = (): string[] => {
    for (const end of ends.splice(0)) end();
    return writes.splice(0);
  };
  const written = () => writes.splice(0);
  return { connection, endTurn, written, time };
}

/** Sends a text on a connection of its own, so that the texts after it are not the first ones after a quiet time. */
function begin({ connection, written }: ReturnType<typeof opened>): void {
  connection("first").writeText("!", 1);
  expect(written()).toEqual(["first: !"]);
}

test("texts wait for the end of the turn, and those of one connection are one write", () => {
  const it = opened();
  const [a, b] = [it.connection("a"), it.connection("b")];
  begin(it);
  a.writeText("1", 1);
  b.writeText("2", 1);
  a.writeText("é", 2);
  expect(it.written()).toEqual([]);
  expect(it.endTurn()).toEqual(["a: 1é", "b: 2"]);
  a.writeText("3", 1);
  expect(it.endTurn()).toEqual(["a: 3"]);
  expect(it.endTurn()).toEqual([]);
});

test("after a quiet time a text is written immediately", () => {
  const it = opened();
  const [a, b] = [it.connection("a"), it.connection("b")];
  begin(it);
  it.time.ms += 0.09;
  a.writeText("1", 1);
  it.time.ms += 0.5;
  b.writeText("2", 1);
  expect(it.written()).toEqual([]);
  expect(it.endTurn()).toEqual(["a: 1", "b: 2"]);
  it.time.ms += 0.2;
  a.writeText("3", 1);
  expect(it.written()).toEqual(["a: 3"]);
  expect(it.endTurn()).toEqual([]);
});

test("the texts of eight connections, and 64 KiB of one, do not wait for the end of the turn", () => {
  const it = opened();
  begin(it);
  const all = Array.from({ length: 9 }, (_, at) => it.connection(String(at)));
  for (const one of all) one.writeText("x", 1);
  expect(it.written()).toEqual(Array.from({ length: 8 }, (_, at) => `${at}: x`));
  expect(it.endTurn()).toEqual(["8: x"]);
  const large = "y".repeat(65_537);
  (all[0] as SendBuffer).writeText(large, large.length);
  expect(it.written()).toEqual([`0: ${large}`]);
  expect(it.endTurn()).toEqual([]);
});

test("a text waits at most a millisecond for another one", () => {
  const it = opened();
  const [a, b, c] = [it.connection("a"), it.connection("b"), it.connection("c")];
  begin(it);
  a.writeText("1", 1);
  it.time.ms += 0.9;
  b.writeText("2", 1);
  expect(it.written()).toEqual([]);
  it.time.ms += 0.2;
  c.writeText("3", 1);
  expect(it.written()).toEqual(["a: 1", "b: 2", "c: 3"]);
  expect(it.endTurn()).toEqual([]);
});

test("bytes stay behind the text before them, and a closed connection sends nothing", async () => {
  const it = opened();
  const [a, b] = [it.connection("a"), it.connection("b")];
  begin(it);
  a.writeText("head ", 5);
  await a.writeBytes(Buffer.from("body"));
  b.writeText("lost", 4);
  b.close();
  expect(it.endTurn()).toEqual(["a: head ", "a: body"]);
});
