import { expect, test } from "bun:test";
import type { NodeId } from "#kernel/ids";
import { type TestEvent, TestEvents } from "./test-view.ts";

const [one, other] = ["1001", "1002"] as unknown as [NodeId, NodeId];
const seen = (app: NodeId, name: string) => ({
  app,
  received: 1,
  kind: "CUSTOM_APP_EVENTS",
  events: [{ _eventName: name }],
  duplicates: new Set<number>(),
  refusal: undefined,
  dropped: 0,
});
const namesOf = (events: readonly TestEvent[]) => events.map(({ event_name }) => event_name);

test("takeNew returns each request once and in order, and addShown shows it in another process", () => {
  const [own, shown] = [new TestEvents(), new TestEvents()];
  const live: (string | undefined)[] = [];
  shown.follow(one, (events) => live.push(...namesOf(events)));
  own.add(seen(one, "a"));
  own.add(seen(other, "b"));
  shown.addShown(own.takeNew());
  own.add(seen(one, "c"));
  shown.addShown(own.takeNew());
  shown.addShown(own.takeNew());
  expect(namesOf(shown.list(one))).toEqual(["c", "a"]);
  expect(shown.list(one)).toEqual(own.list(one));
  expect(namesOf(shown.list(other))).toEqual(["b"]);
  expect(live).toEqual(["a", "c"]);
});

test("takeNew returns only the 20 newest requests", () => {
  const own = new TestEvents();
  for (let i = 0; i < 500; i++) own.add(seen(one, String(i)));
  expect(own.takeNew().flatMap(namesOf)).toEqual(Array.from({ length: 20 }, (_, i) => String(480 + i)));
  expect(own.takeNew()).toEqual([]);
});

test("the newest 200 requests are kept, with at most 500 events", () => {
  const own = new TestEvents();
  const request = (name: string, count: number) => ({ ...seen(one, name), events: Array.from({ length: count }, () => ({ _eventName: name })) });
  for (const name of ["a", "b", "c", "d", "e", "f"]) own.add(request(name, 90));
  expect(new Set(namesOf(own.list(one)))).toEqual(new Set(["b", "c", "d", "e", "f"]));
  expect(own.takeNew().flatMap(namesOf)).toHaveLength(450);
  for (let i = 0; i < 250; i++) own.add(seen(one, String(i)));
  expect(own.list(one)).toHaveLength(200);
  expect(namesOf(own.list(one)).at(-1)).toBe("50");
});

test("100 events of a request are shown; the newest request always stays, and others while all have 500 together", () => {
  const own = new TestEvents();
  const request = (name: string, count: number) => ({
    ...seen(one, name),
    events: Array.from({ length: count }, (_, at) => ({ _eventName: `${name}${at}` })),
  });
  own.add(request("a", 101));
  expect(namesOf(own.list(one))).toEqual(Array.from({ length: 100 }, (_, at) => `a${at}`));
  for (const name of ["b", "c", "d", "e"]) own.add(request(name, 100));
  expect(own.list(one)).toHaveLength(500);
  own.add(request("f", 1));
  expect(own.list(one)).toHaveLength(401);
  expect(own.list(one)[0]?.event_name).toBe("f0");
  own.addShown([own.list(one), own.list(one)].map((events) => [...events, ...events]));
  expect(own.list(one)).toHaveLength(802);
  own.clear();
  expect([own.list(one), own.takeNew()]).toEqual([[], []]);
  own.add(request("g", 100));
  for (const name of ["h", "i", "j", "k"]) own.add(request(name, 100));
  expect(own.list(one)).toHaveLength(500);
});

test("requests of an app are sent to each follower until it leaves", () => {
  const own = new TestEvents();
  const heard: string[] = [];
  const ends = ["x", "y"].map((who) => own.follow(one, (events) => heard.push(...namesOf(events).map((name) => `${who} ${name}`))));
  own.add(seen(one, "a"));
  own.add(seen(other, "b"));
  ends[0]?.();
  own.add(seen(one, "c"));
  ends[1]?.();
  own.add(seen(one, "d"));
  expect(heard).toEqual(["x a", "y a", "y c"]);
});

test("the elements of a refused list are shown with their values and the reason", () => {
  const own = new TestEvents();
  const events = [{ _eventName: "a", event_id: "1" }, { _eventName: 5, event_id: 5 }, "text", null, { _eventName: "b", name: "c" }];
  own.add({ ...seen(one, ""), events, refusal: "wrong", dropped: 2 });
  const shared = {
    channel: "App",
    app: one,
    received_time: 1,
    event: "CUSTOM_APP_EVENTS",
    verdict: "refused",
    reason: "wrong",
    dropped_user_data: 2,
  };
  expect(own.list(one)).toEqual([
    ...[{ ...shared, event_name: "a", event_id: "1", parameters: {} }, { ...shared, parameters: {} }, { ...shared }, { ...shared }],
    { ...shared, event_name: "b", parameters: { name: "c" } },
  ] as TestEvent[]);
  own.clear();
  own.add({ ...seen(one, ""), events: [], kind: "MOBILE_APP_INSTALL", duplicates: new Set([0]) });
  own.add({ ...seen(one, ""), events: [{ name: "a" }, { name: "b" }], duplicates: new Set([1]) });
  expect(own.list(one).map(({ event, verdict, reason }) => ({ event, verdict, reason }))).toEqual([
    { event: "CUSTOM_APP_EVENTS", verdict: "accepted", reason: undefined },
    { event: "CUSTOM_APP_EVENTS", verdict: "duplicate", reason: undefined },
    { event: "MOBILE_APP_INSTALL", verdict: "duplicate", reason: undefined },
  ]);
});
