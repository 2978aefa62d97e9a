import { expect, test } from "bun:test";
import { eventStream, type SendEvent, wantsEvents } from "./event-stream.ts";
import type { ControlRequest } from "./route.ts";

const requestOf = (ending: AbortSignal | undefined, accept = "text/event-stream") =>
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

test("each value is an event, and the stream ends with its reader", async () => {
  const { response, reader, next, send, stops } = open();
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(await next()).toBe(": listening\n\n");
  send("request", { text: "a\nb" });
  expect(await next()).toBe('event: request\ndata: {"text":"a\\nb"}\n\n');
  expect(stops()).toBe(0);
  await reader.cancel();
  expect(stops()).toBe(1);
});

test("it ends with the server, also with one that is ending already", async () => {
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

test("a reader that does not read is left behind, so that memory stays bounded", async () => {
  const { next, send, stops } = open();
  let sent = 0;
  while (stops() === 0) send("n", sent++);
  expect(sent).toBeLessThan(1_100);
  let received = 0;
  while ((await next()) !== undefined) received++;
  expect(received).toBeGreaterThan(900);
});

test("only who asks for events gets them", () => {
  expect(wantsEvents(requestOf(undefined))).toBeTrue();
  expect(wantsEvents(requestOf(undefined, "application/json"))).toBeFalse();
});
