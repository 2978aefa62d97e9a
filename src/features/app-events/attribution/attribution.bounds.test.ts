import { expect, test } from "bun:test";
import type { TSchema } from "typebox";
import { expectBounds } from "#harness/schemas/bounds";
import { appEventControlRoutes, spanOf } from "../app-events.control.ts";
import { adSection } from "./ads.world.ts";
import { attributionControlRoutes } from "./attribution.control.ts";

const routeOf = (operation: string) => [...appEventControlRoutes, ...attributionControlRoutes].find((route) => route.operation === operation);
const ids = { right: ["x", undefined], wrong: [""] };

test("an ad's objective is any text that is not empty", () => {
  expectBounds(adSection.entry, { id: "8501", app: "1001" }, { objective: { right: ["X"], wrong: [""] } });
});

test("the ids of a click, an impression and a requested device have at least one character", () => {
  for (const operation of ["recordClick", "recordImpression"])
    expectBounds(routeOf(operation)?.body as TSchema, { ad: "8501" }, { advertiser_id: ids, attribution: ids });
  expectBounds(routeOf("readDevice")?.query as TSchema, {}, { advertiser_id: ids, attribution: ids });
  expect(routeOf("readAttributionReport")?.body).toBeUndefined();
});

test("raw events are kept for a number of days, or forever if it is 0", () => {
  expectBounds(routeOf("setEventRetention")?.body as TSchema, {}, { days: { right: [0, 1, 400], wrong: [-1, 0.5, undefined] } });
});

test("a report covers everything until now, or at least a second, and its times must be in order", () => {
  const of = (query: object) => spanOf(query, 9);
  expect([of({}), of({ since: 9 }), of({ until: 0 }), of({ since: 7, until: 7 })]).toEqual([
    { since: 0, until: 9 },
    { since: 9, until: 9 },
    { since: 0, until: 0 },
    { since: 7, until: 7 },
  ]);
  for (const wrong of [{ since: 10 }, { since: 8, until: 7 }]) expect(() => of(wrong)).toThrow("since must not be after until");
});
