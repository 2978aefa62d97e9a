/** Draws histories, each from a seed. */
import fc, { type Arbitrary } from "fast-check";
import { appEventSteps } from "./app-events.ts";
import { attributionSteps } from "./attribution.ts";
import { batchSteps } from "./batches.ts";
import { catalogSteps } from "./catalogs.ts";
import { node, oneOf, world } from "./drawing.ts";
import { insightSteps } from "./insights.ts";
import { audienceSteps, liveSteps } from "./live.ts";
import { manySteps } from "./many.ts";
import { chatappSteps, intentSteps, selfMessagingSteps } from "./messaging.ts";
import { nodeSteps } from "./nodes.ts";
import { labelSteps, personaSteps } from "./page-messaging.ts";
import { proofSteps } from "./proofs.ts";
import { actionSteps, inspectionSteps, mediaSteps } from "./reading.ts";
import { restarts, withRestarts } from "./restarts.ts";
import type { History, InterruptStep, RequestStep, RestartStep, Step } from "./steps.ts";
import { subscriptionSteps } from "./subscriptions.ts";
import { beginnings, versionSteps } from "./versions.ts";

const MINUTE = 60;
const DAY = 86_400;

const tasks = fc.subarray(["MANAGE", "CREATE_CONTENT", "MODERATE", "MESSAGING"]);

/** Draws the steps of a history that are not requests. */
const worldSteps: Arbitrary<Step> = oneOf<Step>(
  [18, fc.record({ kind: fc.constant("follow" as const), world, link: fc.constantFrom("next" as const, "next" as const, "previous" as const) })],
  [
    6,
    fc.record({
      ...{ kind: fc.constant("again" as const), world },
      tag: fc.constantFrom("same" as const, "same" as const, "weak" as const, "one of two" as const, "any" as const, "another" as const),
    }),
  ],
  [1, fc.record({ kind: fc.constant("move" as const), world })],
  [4, fc.record({ kind: fc.constant("snapshot" as const), world, what: fc.constantFrom("take" as const, "restore" as const) })],
  [6, fc.record({ kind: fc.constant("advance" as const), world, seconds: fc.constantFrom(1, MINUTE, 30 * MINUTE, 3600, DAY) })],
  [
    1,
    fc.record({
      ...{ kind: fc.constant("advance" as const), world },
      seconds: fc.constantFrom(3 * DAY, 20 * DAY),
      within_ms: fc.constantFrom(1, 20, 1_000),
    }),
  ],
  [1, fc.record({ kind: fc.constant("erase" as const), world, person: node("page_person") })],
  [1, fc.record({ kind: fc.constant("revoke" as const), world, token: fc.constantFrom("ada-user", "cafe-page-of-other-app", "bar-page") })],
  [
    1,
    fc.record({
      kind: fc.constant("copy" as const),
      world,
      token: fc.constantFrom("ada-user", "ada-user", "cafe-page", "shop-app", "cafe-page-expires-soon"),
    }),
  ],
  [
    1,
    fc
      .record({
        world,
        page: fc.constantFrom("2001", "2002"),
        ada: tasks,
        ben: tasks,
        who: oneOf<string[]>([3, fc.constant(["3001", "3002"])], [1, fc.constantFrom(["3001"], ["3002"])]),
      })
      .map(({ world: of, page, ada, ben, who }) => ({
        ...{ kind: "roles" as const, world: of, page },
        roles: who.map((user) => ({ user, tasks: user === "3001" ? ada : ben })),
      })),
  ],
);

/** Starting a process costs as much as a hundred requests, so only one history in twelve restarts some. */
const RESTARTS_EVERY = 12;

/** The steps of each area. A history concerns only a few areas, so that its steps affect each other. */
const areas: Readonly<Record<string, Arbitrary<Step>>> = {
  ...{ labels: labelSteps, personas: personaSteps, actions: actionSteps, media: mediaSteps, inspection: inspectionSteps },
  ...{ selfMessaging: selfMessagingSteps, chatapp: chatappSteps, intents: intentSteps, nodes: nodeSteps },
  ...{ live: liveSteps, audience: audienceSteps, insights: insightSteps, subscriptions: subscriptionSteps },
  ...{ many: manySteps, catalogs: catalogSteps, versions: versionSteps },
  ...{ batches: batchSteps, appEvents: appEventSteps, attribution: attributionSteps, proofs: proofSteps },
};

/**
 * The area of API versions. The area of versions is used alone, because only its steps need clock times close to those of the calendar.
 */
const VERSIONS = "versions";

type Unusual = Pick<RequestStep, "verb" | "sent">;

/** Changes some requests: the method is sent as a parameter, a read is repeated as HEAD, or the request is sent in another unusual way. */
const withUnusual = (steps: Arbitrary<Step>): Arbitrary<Step> =>
  fc
    .tuple(
      steps,
      oneOf<Unusual>(
        [60, fc.constant({})],
        [2, fc.record({ verb: fc.constantFrom("parameter" as const, "head" as const, "options" as const) })],
        [3, fc.record({ sent: fc.constantFrom("twice" as const, "in the body" as const, "gzip" as const) })],
        [1, fc.record({ sent: fc.constantFrom("by a page" as const, "large head" as const, "large body" as const) })],
      ),
    )
    .map(([step, unusual]) => (step.kind === "request" ? { ...step, ...unusual } : step));

const besides = (own: string, among: readonly string[]): string[] => (own === VERSIONS ? [] : among.filter((name) => name !== VERSIONS));

/** A history about one area and up to two others. */
const history = (steps: number, own: string, among: readonly string[]): Arbitrary<History> =>
  fc.subarray(besides(own, among), { maxLength: Math.min(2, besides(own, among).length) }).chain((others) => {
    const ofAreas = [...new Set([own, ...others])].map((name): readonly [number, Arbitrary<Step>] => [10, areas[name] as Arbitrary<Step>]);
    const profile = fc.constantFrom("strict" as const, "strict" as const, "clients" as const);
    return fc.record({
      worlds: fc.tuple(profile, profile),
      steps: fc.array(withUnusual(oneOf<Step>(...ofAreas, [ofAreas.length * 2, worldSteps])), { minLength: steps, maxLength: steps }),
    });
  });

/** Draws a history. The same seed always draws the same history; consecutive seeds choose the areas in turn. */
export function drawHistory(seed: number, steps: number, among: readonly string[] = Object.keys(areas), mayRestart = true): History {
  const own = among[seed % among.length] as string;
  const plain = fc.sample(history(steps, own, among), { seed, numRuns: 1 })[0] as History;
  const drawn = own === VERSIONS ? { ...plain, ...(fc.sample(beginnings, { seed, numRuns: 1 })[0] as Partial<History>) } : plain;
  if (!mayRestart || seed % RESTARTS_EVERY !== 0) return drawn;
  return withRestarts(drawn, fc.sample(restarts, { seed, numRuns: 1 })[0] as readonly (RestartStep | InterruptStep)[]);
}
