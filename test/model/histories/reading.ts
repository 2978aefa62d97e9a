/** Draws steps about required actions, tagged media, and token inspection. */
import fc, { type Arbitrary } from "fast-check";
import { ACTION_MOVES } from "../reference/areas/required-actions.ts";
import { callers, fields, list, node, oneOf, request, world } from "./drawing.ts";
import type { NodeName, Step, Value } from "./steps.ts";
import { CALLERS } from "./world-file.ts";

const app: Arbitrary<NodeName> = oneOf<NodeName>(
  [8, fc.constant({ id: "1001" })],
  [1, fc.constant({ id: "1002" })],
  [1, fc.constant({ id: "5001" })],
);

const statuses: Arbitrary<Value> = oneOf<Value>(
  [4, fc.constant(undefined)],
  [
    6,
    fc
      .subarray(["completed", "in_progress", "in_review", "past_due"], { minLength: 1 })
      .chain((some) => fc.constantFrom<Value>(some.join(","), JSON.stringify(some), { $repeated: some })),
  ],
  [1, fc.constantFrom("done", "completed,done", "[", "COMPLETED", "", "[]")],
);

export const actionSteps: Arbitrary<Step> = oneOf<Step>(
  [
    6,
    request({
      ...{ operation: "listRequiredActions", method: "GET", surface: "app", version: null, node: app, edge: "required_actions" },
      tokens: callers("header", ["shop-app", "ada-user", "ada-system-user", "1001|s3cret", "other-app"]),
      query: fc.record({
        statuses,
        status: oneOf([20, fc.constant(undefined)], [1, fc.constant("completed")]),
        limit: oneOf([20, fc.constant(undefined)], [1, fc.constant("1")]),
      }),
      headers: oneOf<Record<string, string>>(
        [8, fc.constant({})],
        [2, fc.constant({ "x-api-version": "1.0.0" })],
        [1, fc.constant({ "x-api-version": "2.0.0" })],
      ),
    }),
  ],
  [
    2,
    fc.record({
      ...{ kind: fc.constant("move action" as const), world, action: fc.constantFrom("5201", "5202", "5203", "5204", "5205") },
      to: fc.constantFrom(...Object.values(ACTION_MOVES).flat()),
    }),
  ],
);

const mediaFields = fields(
  "id",
  "caption",
  "owner",
  "owner{username}",
  "username",
  "timestamp",
  "like_count",
  "media_type",
  "children",
  "children{id,media_type,owner{id}}",
  "shortcode",
);

export const mediaSteps: Arbitrary<Step> = oneOf<Step>(
  [
    6,
    list(
      {
        ...{
          operation: "listTags",
          node: oneOf<NodeName>([8, fc.constant({ id: "6001" })], [2, node("social_account")], [1, fc.constant({ id: "2001" })]),
          edge: "tags",
        },
        tokens: callers("query", ["ada-user", "ada-user", "biz-user", "biz-user-without-ads", "ben-user-without-messaging"]),
      },
      { fields: mediaFields },
    ),
  ],
  [
    2,
    fc.record({
      ...{ kind: fc.constant("add media" as const), world, owner: fc.constantFrom("6001", "6002"), private: fc.boolean() },
      tagged: fc.subarray(["6001", "6002"]),
      caption: fc.constantFrom("Dinner", "😀 ümläut", "x"),
      // Some media of the world file have the same age, and others are older or younger.
      age: fc.constantFrom(0, 0, 4_000, 4_500, 7_500, 100_000),
    }),
  ],
);

export const inspectionSteps: Arbitrary<Step> = request({
  ...{ operation: "inspectToken", method: "GET", surface: "microblog", version: null, node: { id: "debug_token" }, edge: "" },
  tokens: callers("query", ["talk", "talk", "talk-data-over", "outsider"]),
  query: fc.record({ input_token: oneOf<Value>([12, fc.constantFrom(...CALLERS)], [1, fc.constant(undefined)]) }),
});
