import { expect, test } from "bun:test";
import type { NodeId } from "#kernel/ids";
import { type TestEvent, TestEvents } from "./test-view.ts";

const [one, other] = ["1001", "1002"] as unknown as [NodeId, NodeId];
const seen = (app: NodeId, name: string) => ({
  app,
  received: 1,
  kind: "CUSTOM_APP_EVENTS",
  events: [{ name }],
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
  const request = (name: string, count: number) => ({ ...seen(one, name), events: Array.from({ length: count }, () => ({ name })) });
  for (const name of ["a", "b", "c", "d", "e", "f"]) own.add(request(name, 90));
  expect(new Set(namesOf(own.list(one)))).toEqual(new Set(["b", "c", "d", "e", "f"]));
  expect(own.takeNew().flatMap(namesOf)).toHaveLength(450);
  for (let i = 0; i < 250; i++) own.add(seen(one, String(i)));
  expect(own.list(one)).toHaveLength(200);
  expect(namesOf(own.list(one)).at(-1)).toBe("50");
});
