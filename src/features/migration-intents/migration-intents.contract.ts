import { Type } from "typebox";
import { chatappChange } from "#features/chatapp-accounts/api";
import { type Access, type Field, type FieldSet, writeOperation } from "#graph/contract/operation";
import { PROBLEM } from "#graph/schema/schema-node";
import { worldId } from "#graph/worlds/file/schema-words";
import type { NodeId } from "#kernel/ids";
import { migrationIntent } from "./migration-intents.policies.ts";
import { type Status, statuses } from "./migration-intents.states.ts";
import type { IntentRow } from "./migration-intents.store.ts";

export const status = Type.Unsafe<Status>(Type.Union(statuses.map((one) => Type.Literal(one))));

const text = { schema: Type.String(), policy: migrationIntent } as const;

const idOnly: FieldSet = { fields: { id: text }, defaults: ["id"], isExhaustive: true };

/**
 * Makes the field that shows an account or the solution of a migration intent. If the intent has no such account or solution, the response does not
 * have the field, even if the request names the field in `fields` (D-58).
 */
const object = { schema: Type.Object({ id: Type.String() }), policy: migrationIntent } as const;

const account = (column: "waba" | "destination_waba"): Field<IntentRow> => ({
  ...object,
  reference: { type: "chatapp_account", idOf: (row) => row[column] },
});

/** The field for the solution of an intent. The response shows only the solution's id, because no operation reads a solution. */
const solution: Field<IntentRow> = {
  ...object,
  nested: {
    set: () => idOnly,
    load: async (_request, _reader, rows) => rows.map((row) => (row.solution === null ? undefined : { id: row.solution })),
  },
};

/** H7-18, H7-19, D-37: responses always contain id and status. */
export const intentNode: FieldSet<IntentRow> = {
  fields: {
    id: text,
    status: { schema: status, policy: migrationIntent },
    destination_waba: account("destination_waba"),
    solution,
    waba: account("waba"),
  },
  defaults: ["solution", "status", "destination_waba"],
  required: ["id", "status"],
  isExhaustive: true,
};

export const readIntent = {
  operation: "readMigrationIntent",
  decisions: ["D-58"],
  surfaces: ["base"],
  versions: "migrationIntents",
  scheme: "bearer",
  policy: migrationIntent,
  errorForm: "wrapped",
  clauses: [
    ...["H7-1", "H7-2", "H7-3", "H7-4", "H7-5", "H7-6", "H7-7", "H7-10", "H7-11", "H7-12", "H7-13", "H7-14", "H7-15", "H7-16", "H7-17", "H7-18"],
    ...["H7-19", "H7-20", "H7-21", "AUTH-6", "VER-1c", "ERR-11", "ERR-22", "ERR-23", "ERR-24", "ERR-25", "ERR-26", "ERR-29", "LIM-16"],
  ],
  errors: ["unknownObject404", "fieldUnavailable"],
} as const satisfies Access & { operation: string };

export const NO_SOLUTION = "must be the id of a multi-partner solution";
export const NO_OTHER_ACCOUNT = "must be another account to which the app is subscribed and for which you may act";

export const setSolutionMigrationIntent = writeOperation({
  operation: "setSolutionMigrationIntent",
  summary: "Starts the migration of an account to a multi-partner solution, and to another account if destination_waba is sent (D-58).",
  clauses: [],
  decisions: ["D-58", "D-121", "D-305", "D-306"],
  on: "chatapp_account",
  method: "POST",
  edge: "set_solution_migration_intent",
  surfaces: ["base"],
  versions: "platform",
  scheme: "bearer",
  policy: chatappChange,
  errorForm: "wrapped",
  params: Type.Object({
    solution_id: Type.Unsafe<NodeId>({
      ...worldId,
      description: "the id of a multi-partner solution that the app owns, or that another intent of the account names",
      [PROBLEM]: NO_SOLUTION,
    }),
    destination_waba: Type.Optional(
      Type.Unsafe<NodeId>({
        ...worldId,
        description: "another account to which the app is subscribed and for which you may act",
        [PROBLEM]: NO_OTHER_ACCOUNT,
      }),
    ),
  }),
  returns: Type.Object({ id: Type.String() }),
  errors: ["invalidParameter"],
});
