/** Tests the bounds of each parameter of the control API's own routes: a value at the bound is accepted, and the next value is refused. */
import { expect, test } from "bun:test";
import type { TObject } from "typebox";
import { Registry } from "#graph/contract/registry";
import { expectBounds, textOf } from "#harness/schemas/bounds";
import { controlRoutes } from "./routes.ts";

type Bounds = Parameters<typeof expectBounds>[2][string];

type Route = readonly [rest: object, bounds: Readonly<Record<string, Bounds>>];

const within = (least: number, most: number): Bounds => ({ right: [least, most], wrong: [least - 1, most + 1, least + 0.5] });
const status = within(100, 599);
const status_class = within(1, 5);
const id: Bounds = { right: ["1", "9".repeat(19)], wrong: ["", "0", "01", "1".repeat(20), "1x"] };

/**
 * The routes by operation: for each route, first its other required parameters, and then its parameters with bounds. A parameter `limit`
 * that is not in this list may be at most 1,000. faults.test.ts tests the bounds of faults.
 */
const ROUTES: Readonly<Record<string, Route>> = {
  createWorld: [{}, { name: { right: ["a", "0", "a-_b", "a".repeat(57)], wrong: ["", "-a", "a-", "A", "a.b", "a".repeat(58)] } }],
  takeSnapshot: [{}, { name: { right: ["a", "Z_-", "0".repeat(64)], wrong: ["", "-a", "_a", "a b", "a".repeat(65)] } }],
  mintToken: [
    { type: "app", app: "1001" },
    {
      token: { right: ["!", "~", textOf(1_000)], wrong: ["", "a b", "a|b", "ä", textOf(1_001)] },
      token_sha256: { right: ["0af".padEnd(64, "9")], wrong: ["", "A".repeat(64), "0".repeat(63), "0".repeat(65)] },
    },
  ],
  createControlKey: [
    { access: "read" },
    { name: { right: ["", textOf(200)], wrong: [textOf(201)] }, world: { right: ["default"], wrong: [""] }, expires_at: within(0, 253_402_300_799) },
  ],
  rotateControlKey: [{}, { overlap_seconds: within(0, 2_592_000) }],
  rotateSealingKey: [{}, { overlap_seconds: within(60, 2_592_000) }],
  setClock: [{}, { within_ms: { right: [1, 60_000], wrong: [0, 0.5] } }],
  // The clock may be advanced by at most a century, which is counted with all leap days that a century can have.
  advanceClock: [
    { seconds: 0 },
    { seconds: { right: [0, 0.5, 3_162_240_000], wrong: [-1, 3_162_240_001] }, within_ms: { right: [1, 60_000], wrong: [0, 0.5] } },
  ],
  listRequests: [{}, { status, status_class }],
  streamRequests: [{}, { status, status_class, after: { right: [0, 1], wrong: [-1, 0.5] } }],
  readDeliveryLog: [{}, { after: { right: [0, 1], wrong: [-1, 0.5] }, limit: within(1, 200) }],
  expectRequests: [{}, { count: { right: [0, 1_000], wrong: [-1, 0.5] }, within_ms: within(0, 60_000) }],
  expectWebhooks: [{}, { count: within(0, 200), within_ms: within(0, 60_000) }],
  readWebhookExample: [{ entity: "1" }, { entity: id, phone_number: id }],
};

const WORDS = ["minimum", "maximum", "minLength", "maxLength", "pattern"];

/** The control API's own routes, because this registry has no features, which could add routes. */
const routes = controlRoutes(new Registry([])).map(({ operation, query, body }) => ({ operation, query, body: body as TObject | undefined }));

for (const { operation, query, body } of routes) {
  const properties = { ...query?.properties, ...body?.properties };
  const bounded = Object.keys(properties).filter((name) => name !== "limit" && WORDS.some((word) => word in (properties[name] ?? {})));
  if (operation === "createFault" || (bounded.length === 0 && query?.properties.limit === undefined)) continue;
  test(`${operation} accepts a value at a bound, and refuses one beyond it`, () => {
    const [rest, { limit = within(1, 1_000), ...bounds }]: Route = ROUTES[operation] ?? [{}, {}];
    expect(bounded).toEqual(Object.keys(bounds));
    for (const [name, of] of Object.entries(bounds))
      expectBounds((name in (query?.properties ?? {}) ? query : body) as TObject, rest, { [name]: of });
    if (query?.properties.limit !== undefined) expectBounds(query, rest, { limit });
  });
}

test("each operation that has bounds here exists in the API", () => {
  const names = routes.map(({ operation }) => operation);
  expect(Object.keys(ROUTES).filter((name) => !names.includes(name))).toEqual([]);
});
