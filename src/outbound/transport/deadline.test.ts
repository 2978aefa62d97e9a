import { expect, test } from "bun:test";
import { RequestFailed } from "../request.ts";
import { Deadline, Deadlines } from "./deadline.ts";

/** A connection that records the reasons with which it was closed. */
const closable = () => {
  const closed: string[] = [];
  return { closed, close: (problem = "given up") => void closed.push(problem) };
};

const never = new Promise<never>(() => {});

test("a deadline that passes closes the connection and ends what waits, once", async () => {
  const deadline = new Deadline(0, () => {});
  const connection = closable();
  deadline.connection = connection;
  const waits = deadline.race(never);
  deadline.pass();
  deadline.pass();
  expect(await waits.catch((error: unknown) => error)).toMatchObject({ kind: "timeout" });
  expect(connection.closed).toEqual(["timeout"]);
});

test("what ends before its deadline keeps its own end", async () => {
  const deadline = new Deadline(0, () => {});
  expect(await deadline.race(Promise.resolve(7))).toBe(7);
  await expect(deadline.race(Promise.reject(new Error("other")))).rejects.toThrow("other");
  const connection = closable();
  expect(await deadline.open(Promise.resolve(connection))).toBe(connection);
  expect(connection.closed).toEqual([]);
});

test("a connection that opens after its deadline is closed", async () => {
  const deadline = new Deadline(0, () => {});
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof closable>>();
  const opening = deadline.open(promise);
  deadline.pass();
  await expect(opening).rejects.toBeInstanceOf(RequestFailed);
  const connection = closable();
  resolve(connection);
  await Bun.sleep(0);
  expect(connection.closed).toEqual(["given up"]);
});

test("a connection may have less time than the whole request, and is then of the kind after which another address is tried", async () => {
  const deadline = new Deadline(0, () => {});
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof closable>>();
  expect(await deadline.open(promise, 1).catch((error: unknown) => error)).toMatchObject({
    kind: "connect",
    message: "the connection failed: it took longer than 1 ms",
  });
  const [late, early] = [closable(), closable()];
  resolve(late);
  await Bun.sleep(0);
  expect(late.closed).toEqual(["given up"]);
  expect(await deadline.open(Promise.resolve(early), 1)).toBe(early);
  await Bun.sleep(5);
  expect(early.closed).toEqual([]);
});

/** Waits until a deadline passes. If the deadline does not pass, the test fails by its own time limit. */
const passed = (deadline: Deadline): Promise<unknown> => deadline.race(never).catch((error: unknown) => error);

test("a nearer deadline that begins later passes first, and one that has left does not pass", async () => {
  const deadlines = new Deadlines();
  // The timer of deadlines does not keep the program running, so the test needs another timer that does.
  const socket = setInterval(() => {}, 1_000);
  const [hour, left] = [deadlines.begin(3_600_000), deadlines.begin(2)];
  const [far, gone] = [closable(), closable()];
  hour.connection = far;
  left.connection = gone;
  left.leave();
  await passed(deadlines.begin(10));
  expect({ far: far.closed, gone: gone.closed }).toEqual({ far: [], gone: [] });
  clearInterval(socket);
});

test("the next deadline passes after the first, and one that begins after a pause", async () => {
  const deadlines = new Deadlines();
  const socket = setInterval(() => {}, 1_000);
  await Promise.all([passed(deadlines.begin(50)), passed(deadlines.begin(1))]);
  await passed(deadlines.begin(1));
  clearInterval(socket);
});

test("of the deadlines that pass together each passes, also when one leaves as it passes", async () => {
  const deadlines = new Deadlines();
  const socket = setInterval(() => {}, 1_000);
  const all = [1, 1, 1].map((ms) => deadlines.begin(ms));
  for (const deadline of all) deadline.connection = { close: () => deadline.leave() };
  expect(await Promise.all(all.map(passed))).toHaveLength(3);
  clearInterval(socket);
});

test("leaving twice is leaving once, also when another leaves in between", async () => {
  const deadlines = new Deadlines();
  const socket = setInterval(() => {}, 1_000);
  const [first, second, third] = [1, 2, 3].map((ms) => deadlines.begin(ms)) as [Deadline, Deadline, Deadline];
  const gone = closable();
  second.connection = gone;
  third.connection = gone;
  for (const deadline of [second, third, second]) deadline.leave();
  await passed(first);
  await passed(deadlines.begin(10));
  expect(gone.closed).toEqual([]);
  clearInterval(socket);
});
