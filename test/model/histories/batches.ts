/** Draws batches, for whose requests the steps of other areas are used (D-34, D-284). */
import fc, { type Arbitrary } from "fast-check";
import type { Place } from "../reference/credentials.ts";
import type { Surface } from "../reference/requests.ts";
import { appEventSteps } from "./app-events.ts";
import { catalogSteps } from "./catalogs.ts";
import { oneOf, proof, world } from "./drawing.ts";
import { insightSteps } from "./insights.ts";
import { audienceSteps, liveSteps } from "./live.ts";
import { chatappSteps, intentSteps, selfMessagingSteps } from "./messaging.ts";
import { nodeSteps } from "./nodes.ts";
import { labelSteps, personaSteps } from "./page-messaging.ts";
import { actionSteps, inspectionSteps, mediaSteps } from "./reading.ts";
import type { BatchPart, BatchStep, RequestStep, Step, Value } from "./steps.ts";

const PARTS_MAX = 6;

/** Operations whose response has an `id`. */
const WITH_ID: ReadonlySet<string> = new Set([
  ...["createLabel", "createPersona", "readLabel", "readPersona", "setSolutionMigrationIntent"],
  ...["createFeed", "readFeed", "readCatalog", "readPage"],
]);

/**
 * Operations that a history sends only alone in a batch. Webhooks that an earlier request of the batch causes may be sent before or after these
 * operations change the route of webhooks. The server may read a file before or after the next request of the batch, and a video that ends changes by
 * itself.
 */
const ALONE: ReadonlySet<string> = new Set([
  ...["setAccountOverride", "setNumberOverride", "unsubscribeApp", "subscribeApp", "endSubscription", "subscribeToPage", "unsubscribeFromPage"],
  ...["createUpload", "updateLiveVideo", "deleteLiveVideo", "none"],
]);

/** The steps from which a batch on each API of the graph is drawn. */
const stepsOf: Readonly<Record<Surface, Arbitrary<Step>>> = {
  base: oneOf<Step>(
    ...([
      [8, labelSteps],
      [4, personaSteps],
      [2, intentSteps],
      [3, nodeSteps],
      [4, catalogSteps],
      [3, appEventSteps],
    ] as const),
    ...([
      [2, liveSteps],
      [2, audienceSteps],
      [2, chatappSteps],
      [1, selfMessagingSteps],
      [1, mediaSteps],
    ] as const),
  ),
  ads: catalogSteps,
  app: actionSteps,
  microblog: oneOf<Step>([2, insightSteps], [1, inspectionSteps]),
  social_login: oneOf<Step>([1, selfMessagingSteps], [1, nodeSteps]),
};

const isPart = (surface: Surface, step: Step): step is RequestStep =>
  step.kind === "request" && step.surface === surface && !ALONE.has(step.operation);

/** A request of a batch, with tokens of its own or with those of the batch. */
const partOn = (surface: Surface): Arbitrary<RequestStep> =>
  fc
    .tuple(
      stepsOf[surface].filter((step): step is RequestStep => isPart(surface, step)),
      oneOf([3, fc.constant(false)], [1, fc.constant(true)]),
      oneOf<RequestStep["sent"]>([12, fc.constant(undefined)], [1, fc.constantFrom("twice" as const, "in the body" as const)]),
    )
    .map(([{ proof: own, ...step }, hasTokens, sent]) => ({
      ...{ ...step, tokens: hasTokens ? step.tokens : {} },
      ...(hasTokens && own !== undefined ? { proof: own } : {}),
      ...(sent === undefined ? {} : { sent }),
    }));

const PATHS = [
  "$.id",
  "$['id']",
  "$.id",
  "$.data.0.id",
  "$.data[0].id",
  "$.data.*.id",
  "$.data[*].name",
  "$..id",
  "$.nothing",
  "$.paging.cursors.after",
];

const drawnPartOn = (surface: Surface) =>
  fc.record({
    step: partOn(surface),
    earlier: fc.nat({ max: PARTS_MAX }),
    refers: oneOf<"node" | "order" | "value" | "no">(
      [4, fc.constant("no")],
      [2, fc.constant("node")],
      [1, fc.constant("order")],
      [3, fc.constant("value")],
    ),
    reference: fc.record({ path: fc.constantFrom(...PATHS), name: fc.nat({ max: 9 }), isAlone: fc.boolean() }),
    isOmitted: fc.boolean(),
    isHead: oneOf([9, fc.constant(false)], [1, fc.constant(true)]),
    tag: oneOf<BatchPart["tag"]>([9, fc.constant(undefined)], [1, fc.constantFrom("any" as const, "another" as const)]),
    written: fc.record({
      headers: fc.constantFrom("list" as const, "object" as const),
      isTyped: fc.boolean(),
      references: fc.constantFrom("bare" as const, "encoded" as const),
      address: fc.constantFrom("path" as const, "/path" as const, "whole" as const),
      isObject: fc.boolean(),
    }),
  });

type DrawnPart = ReturnType<typeof drawnPartOn> extends Arbitrary<infer Drawn> ? Drawn : never;

const isText = (value: Value): boolean =>
  typeof value === "string" || typeof value === "number" || (typeof value === "object" && value !== null && "$node" in value);

/** The step with a reference in one of its texts; undefined if none of its texts can have a reference. */
function withReference(step: RequestStep, part: number, { path, name: drawn, isAlone }: DrawnPart["reference"]): RequestStep | undefined {
  if (path === "$.paging.cursors.after" && step.operation.startsWith("list")) {
    const { cursor: _, ...rest } = step;
    return { ...rest, query: { ...step.query, after: { $result: { part, path, before: "", after: "" } } } };
  }
  const { body, query } = step;
  const ofBody = body === undefined || body.kind === "multipart" ? [] : Object.keys(body.fields).filter((name) => isText(body.fields[name]));
  const names = [
    ...ofBody.map((name) => ["body", name] as const),
    ...Object.keys(query)
      .filter((name) => isText(query[name]))
      .map((name) => ["query", name] as const),
  ];
  const [from, name] = names[drawn % Math.max(1, names.length)] ?? [];
  if (name === undefined) return undefined;
  const value: Value = { $result: { part, path, before: isAlone ? "" : "ü&=", after: isAlone ? "" : "+%7B" } };
  if (from === "query") return { ...step, query: { ...query, [name]: value } };
  return body === undefined ? undefined : { ...step, body: { ...body, fields: { ...body.fields, [name]: value } } };
}

function partsOf(drawn: readonly DrawnPart[]): BatchPart[] {
  // The model can know a response that it does not see only if the response has no new id and no cursor.
  const isSeen = drawn.map(
    ({ step }, place) =>
      step.method !== "GET" || drawn.some(({ refers, earlier, reference }) => refers === "value" && earlier === place && reference.path !== "$.id"),
  );
  return drawn.map(({ step, earlier, refers, reference, isOmitted, isHead, tag, written }, place) => {
    const other = drawn[earlier];
    const isRead = step.method === "GET";
    const plain = { step, isOmitted: isOmitted && isSeen[place] !== true, isHead: isHead && isRead, tag: isRead ? tag : undefined, ...written };
    if (refers === "no" || earlier >= place || other === undefined) return plain;
    if (refers === "order") return { ...plain, dependsOn: earlier };
    if (refers === "value") {
      const changed = withReference(step, earlier, reference);
      return changed === undefined ? plain : { ...plain, step: changed };
    }
    const hasId = WITH_ID.has(other.step.operation) && !(other.isHead && other.step.method === "GET");
    return hasId ? { ...plain, nodeOf: earlier } : plain;
  });
}

const surfaces: Arbitrary<Surface> = oneOf<Surface>(
  [12, fc.constant("base")],
  [1, fc.constantFrom<Surface>("ads", "app", "microblog", "social_login")],
);

const GOOD: Readonly<Record<Surface, readonly string[]>> = {
  base: ["cafe-page", "cafe-page", "cafe-page", "ada-user", "ada-user", "cafe-page-of-new-app", "bar-page", "shop-app"],
  ads: ["ada-user"],
  app: ["shop-app", "ada-user"],
  microblog: ["talk", "talk", "outsider"],
  social_login: ["cafe-social", "fan-social"],
};

const places: Arbitrary<readonly Place[]> = oneOf<readonly Place[]>(
  [6, fc.constant(["access_token", "oauth_token", "header"])],
  [3, fc.subarray<Place>(["access_token", "oauth_token", "header", "body"], { minLength: 1 })],
);

const override: Arbitrary<Value> = oneOf<Value>(
  [12, fc.constant(undefined)],
  [2, fc.boolean().map((on) => ({ label_names_case_insensitive: on }))],
  [1, fc.constantFrom<Value>({ another: true }, "{")],
);

export const batchSteps: Arbitrary<BatchStep> = surfaces
  .chain((surface) =>
    fc.record({
      ...{ kind: fc.constant("batch" as const), world, surface: fc.constant(surface), places, override },
      version: oneOf<string | null>([3, fc.constant("v26.0")], [1, fc.constantFrom("v24.0", "v25.0", null)]).map((version) =>
        surface === "app" || surface === "microblog" ? null : version,
      ),
      token: oneOf(
        [10, fc.constantFrom(...GOOD[surface])],
        [2, fc.constantFrom("cafe-page-of-proving-app", "proving-ada-user")],
        [1, fc.constantFrom("cafe-page-expired", "nonsense")],
      ),
      proof: oneOf<RequestStep["proof"]>([3, fc.constant(undefined)], [1, proof]),
      notation: fc.constantFrom("form" as const, "form" as const, "json" as const, "multipart" as const),
      hasHeaders: oneOf([6, fc.constant(true)], [1, fc.constant(false)]),
      foreignHeader: oneOf<string | undefined>(
        [30, fc.constant(undefined)],
        [1, fc.constantFrom("Host", "content-length", "Content-Encoding", "Forwarded")],
      ),
      parts: fc.array(drawnPartOn(surface), { minLength: 1, maxLength: PARTS_MAX }),
    }),
  )
  .map(({ proof: own, override: switches, ...step }) => ({
    ...{ ...step, parts: partsOf(step.parts) },
    ...(own === undefined ? {} : { proof: own }),
    ...(switches === undefined ? {} : { override: switches }),
  }));
