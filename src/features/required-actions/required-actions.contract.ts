import { Type } from "typebox";
import { ownApp } from "#auth/policy";
import { readOperation } from "#graph/contract/operation";
import { type Status, statuses } from "./required-actions.states.ts";

export const status = Type.Unsafe<Status>(Type.Union(statuses.map((one) => Type.Literal(one))));

/** D-02: ids of required actions are JSON integers below 2^53. */
export const ACTION_ID_MAX = Number.MAX_SAFE_INTEGER;

/** VER-1e, D-50: the version in the header `X-API-Version`. The header is optional, but a request with another version is refused. */
export const API_VERSION = "1.0.0";

export const listRequiredActions = readOperation({
  operation: "listRequiredActions",
  summary: "Lists the actions that are required of an app, by due date; `statuses` filters them.",
  clauses: [
    ...["B1-1", "B1-2", "B1-3", "B1-4", "B1-5", "B1-7", "B1-8", "B1-10", "B1-11", "B1-12", "B1-13", "B1-14", "B1-15", "B1-16"],
    ...["AUTH-5", "VER-1e", "GEN-4"],
  ],
  decisions: ["D-50"],
  on: "app",
  edge: "required_actions",
  surfaces: ["app"],
  versions: "unversioned",
  scheme: "bearer",
  policy: ownApp,
  errorForm: "wrapped",
  params: Type.Object({ statuses: Type.Optional(Type.Array(status, { minItems: 1, description: "only actions in these states" })) }),
  requestHeaders: { "X-API-Version": { description: "The version of the interface.", schema: Type.Literal(API_VERSION) } },
  // D-50: unknown parameters are refused, because a request with a misspelt filter would return every action.
  isClosed: true,
  returns: Type.Object({
    required_action: Type.Array(
      Type.Object({
        id: Type.Integer({ maximum: ACTION_ID_MAX }),
        title: Type.String(),
        description: Type.Optional(Type.String()),
        due_date: Type.Optional(Type.Integer()),
        status,
      }),
    ),
  }),
  errors: [],
});
