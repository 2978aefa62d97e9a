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

test("what a process took in is told once, in its order, and the other one shows it", () => {
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

test("of very many only the newest are told", () => {
  const own = new TestEvents();
  for (let i = 0; i < 500; i++) own.add(seen(one, String(i)));
  expect(own.takeNew().flatMap(namesOf)).toEqual(Array.from({ length: 20 }, (_, i) => String(480 + i)));
  expect(own.takeNew()).toEqual([]);
});

test("the newest calls are kept, up to 500 events, and always the last one", () => {
  const own = new TestEvents();
  const call = (name: string, count: number) => ({ ...seen(one, name), events: Array.from({ length: count }, () => ({ name })) });
  for (const name of ["a", "b", "c", "d", "e", "f"]) own.add(call(name, 90));
  expect(new Set(namesOf(own.list(one)))).toEqual(new Set(["b", "c", "d", "e", "f"]));
  expect(own.takeNew().flatMap(namesOf)).toHaveLength(450);
  for (let i = 0; i < 250; i++) own.add(seen(one, String(i)));
  expect(own.list(one)).toHaveLength(200);
  expect(namesOf(own.list(one)).at(-1)).toBe("50");
});
