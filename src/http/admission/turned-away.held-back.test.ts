/** Checks when the server reads on from connections whose last request was turned away (D-97). */
import { expect, test } from "bun:test";
import type { GraphResponse } from "#graph/pipeline/request";
import { type TurnedAwayConnection, TurnedAwayConnections } from "./turned-away.ts";

const response = { status: 503, headers: {}, body: "{}" } as GraphResponse;
/** This number of seconds is longer than any test takes. */
const LONG_SECONDS = 3_600;

/**
 * Held-back connections that record when the server reads from them again. Connections that the server reads again at the same time are in one list.
 */
function noting() {
  const times: string[][] = [];
  let isNoting = false;
  const note = (name: string): void => {
    if (!isNoting) times.push([]);
    isNoting = true;
    queueMicrotask(() => {
      isNoting = false;
    });
    times.at(-1)?.push(name);
  };
  const exchangeOf = (name: string): TurnedAwayConnection & { isLast: boolean } =>
    ({ isLast: false, isGone: false, send() {}, holdBack() {}, finish: () => note(name) }) as unknown as TurnedAwayConnection & { isLast: boolean };
  return { times, exchangeOf };
}

test("first the connections continue whose time is over or that end; then, while nobody is refused, twice as many each time", async () => {
  const turnedAway = new TurnedAwayConnections();
  const { times, exchangeOf } = noting();
  const ending = exchangeOf("ending");
  for (let at = 0; at < 1_000; at++) turnedAway.respond(exchangeOf(`later ${at}`), response, LONG_SECONDS);
  turnedAway.respond(exchangeOf("now"), response, 0);
  turnedAway.respond(ending, response, LONG_SECONDS);
  ending.isLast = true;
  while (turnedAway.seconds > 1 || times.flat().length < 1_002) await Bun.sleep(10);
  expect(times[0]).toEqual(["now", "ending"]);
  expect(times.slice(1).map(({ length }) => length)).toEqual([50, 100, 200, 400, 250]);
  // The server first reads from the connections that were held back longest.
  expect(times.slice(1).flat()).toEqual(Array.from({ length: 1_000 }, (_, at) => `later ${at}`));
  // Connections that are held back after the server has released all others are checked, too.
  turnedAway.respond(exchangeOf("next"), response, 0);
  while (times.length < 7) await Bun.sleep(10);
  expect(times[6]).toEqual(["next"]);
});

test("if somebody is refused meanwhile, no more continue before their time", async () => {
  const turnedAway = new TurnedAwayConnections();
  const { times, exchangeOf } = noting();
  // The server reads from each connection at the next check, and turns away the connection's next request again.
  let again = 0;
  const returning = exchangeOf("");
  const finished = Promise.withResolvers<void>();
  returning.finish = () => {
    if (++again === 4) finished.resolve();
    else turnedAway.respond(returning, response, 0);
  };
  turnedAway.respond(exchangeOf("later"), response, LONG_SECONDS);
  turnedAway.respond(returning, response, 0);
  await finished.promise;
  expect(times).toEqual([]);
  while (times.length === 0) await Bun.sleep(10);
});

test("a connection that ends with the response is not held back", () => {
  const turnedAway = new TurnedAwayConnections();
  const { times, exchangeOf } = noting();
  turnedAway.respond({ ...exchangeOf("ends"), isLast: true, holdBack: () => expect.unreachable("it ends") }, response, LONG_SECONDS);
  expect(times).toEqual([["ends"]]);
});

test("the more connections are held back, the longer each waits, up to ten seconds; one whose client is gone does not count", async () => {
  const turnedAway = new TurnedAwayConnections();
  const { times, exchangeOf } = noting();
  const one = exchangeOf("gone") as TurnedAwayConnection & { isGone: boolean };
  let count = 0;
  const secondsWith = (connections: number): number => {
    for (; count < connections; count++) turnedAway.respond(one, response, LONG_SECONDS);
    return turnedAway.seconds;
  };
  expect([0, 499, 500, 4_499, 4_500, 9_000].map(secondsWith)).toEqual([1, 1, 2, 9, 10, 10]);
  one.isGone = true;
  while (turnedAway.seconds > 1) await Bun.sleep(10);
  expect(times).toEqual([]);
});
