import { expect, test } from "bun:test";
import { eventStream, type SendEvent, wantsEvents, watchStream } from "./event-stream.ts";
import type { ControlRequest } from "./route.ts";

const requestOf = (ending: AbortSignal = new AbortController().signal, accept = "text/event-stream") =>
  ({ deps: { ending }, header: (name: string) => (name === "accept" ? accept : undefined) }) as unknown as ControlRequest;

function open(ending?: AbortSignal) {
  let send: SendEvent = () => {};
  let stops = 0;
  const response = eventStream(requestOf(ending), (given) => {
    send = given;
    return () => stops++;
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const next = async () => {
    const { done, value } = await reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  };
  return { response, reader, next, send: (event: string, value: unknown) => send(event, value), stops: () => stops };
}

test("each value is an event, and the stream ends when its reader leaves", async () => {
  const { response, reader, next, send, stops } = open();
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(await next()).toBe(": listening\n\n");
  send("request", { text: "a\nb" });
  expect(await next()).toBe('event: request\ndata: {"text":"a\\nb"}\n\n');
  expect(stops()).toBe(0);
  await reader.cancel();
  expect(stops()).toBe(1);
});

test("it ends with the server, even if the server is already ending", async () => {
  const ending = new AbortController();
  const one = open(ending.signal);
  await one.next();
  ending.abort();
  expect(await one.next()).toBeUndefined();
  expect(one.stops()).toBe(1);
  const late = open(ending.signal);
  expect(await late.next()).toBe(": listening\n\n");
  expect(await late.next()).toBeUndefined();
  expect(late.stops()).toBe(1);
});

test("a reader that does not read is disconnected, so that memory stays bounded", async () => {
  const { next, send, stops } = open();
  let sent = 0;
  while (stops() === 0) send("n", sent++);
  expect(sent).toBeLessThan(1_100);
  let received = 0;
  while ((await next()) !== undefined) received++;
  expect(received).toBeGreaterThan(900);
});

test("a reader that does not read large pieces is disconnected sooner", () => {
  const { send, stops } = open();
  let sent = 0;
  while (stops() === 0) send("n", "x".repeat(100_000 + sent++));
  expect(sent).toBeLessThan(15);
});

test("an event can have an id, and so can the time before the first event", async () => {
  const response = eventStream(
    requestOf(),
    (send) => {
      send("n", 1, 8);
      return () => {};
    },
    7,
  );
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  expect([await next(), await next()]).toEqual([": listening\nid: 7\n\n", "event: n\nid: 8\ndata: 1\n\n"]);
  await reader.cancel();
});

/** Makes a stream of the values that `look` reads, with the shortest interval between two reads. */
function watch(look: () => Promise<unknown>, ending?: AbortSignal) {
  const response = watchStream(requestOf(ending), { event: "state", everyMs: 1, look });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const next = async () => {
    const { done, value } = await reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  };
  return { reader, next };
}

test("a watched value is sent at once and after each change, until it is gone", async () => {
  const states = ["a", "a", "a", "b", "b", "a"];
  const { next } = watch(async () => states.shift());
  expect(await next()).toBe(": listening\n\n");
  for (const state of ["a", "b", "a"]) expect(await next()).toBe(`event: state\ndata: "${state}"\n\n`);
  expect(await next()).toBeUndefined();
});

test("nothing is checked after the reader has left, the server ends, or a check fails", async () => {
  const ending = new AbortController();
  for (const end of ["reader", "look", "server"] as const) {
    let looks = 0;
    let fails = false;
    const { reader, next } = watch(async () => {
      if (fails) throw new Error("the database cannot be reached");
      return ++looks;
    }, ending.signal);
    await next();
    await next();
    if (end === "reader") await reader.cancel();
    if (end === "server") ending.abort();
    if (end === "look") fails = true;
    while ((await next()) !== undefined);
    const seen = looks;
    // This pause is many times the interval between two reads of the value.
    await Bun.sleep(20);
    expect({ end, looks }).toEqual({ end, looks: seen });
  }
});

test("only one check runs at a time, however long it takes", async () => {
  let looks = 0;
  let atOnce = 0;
  const goesOn = Promise.withResolvers<void>();
  const { reader, next } = watch(async () => {
    looks++;
    atOnce++;
    await goesOn.promise;
    return atOnce--;
  });
  await next();
  await Bun.sleep(20);
  expect({ looks, atOnce }).toEqual({ looks: 1, atOnce: 1 });
  goesOn.resolve();
  expect(await next()).toBe("event: state\ndata: 1\n\n");
  await reader.cancel();
});

test("only callers who ask for events get them", () => {
  expect(wantsEvents(requestOf())).toBeTrue();
  expect(wantsEvents(requestOf(undefined, "application/json"))).toBeFalse();
});
