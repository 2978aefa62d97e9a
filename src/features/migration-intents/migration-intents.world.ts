import { type Static, Type } from "typebox";
import { closedMap, described, idOf, WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { ownedSection, section } from "#graph/worlds/file/section";
import { status } from "./migration-intents.contract.ts";
import { type Status, transitions } from "./migration-intents.states.ts";
import { type IntentRow, intentTable, solutionTable } from "./migration-intents.store.ts";

export const solutionSection = section({
  ...solutionTable,
  key: "solutions",
  entry: closedMap(
    {
      id: described("the solution's id", worldId),
      name: Type.String({ default: "", description: "the solution's name" }),
      owner_app: described("the app that owns the solution and sees its migration intents", idOf("app")),
    },
    "a solution of several partners, to which a messaging account can migrate",
  ),
});

const intent = closedMap(
  {
    id: described("the intent's id", worldId),
    waba: described("the business messaging account that migrates", idOf("chatapp_account")),
    destination_waba: Type.Optional(described("the business messaging account to which `waba` migrates", idOf("chatapp_account"))),
    solution: Type.Optional(described("the solution to which the account migrates", idOf("solution"))),
    status: Type.Unsafe<Status>({
      ...status,
      default: "INITIATED",
      description: "the status goes from INITIATED to ACCEPTED to COMPLETED, and from INITIATED or ACCEPTED also to REJECTED",
    }),
  },
  "the intent to migrate a business messaging account",
);

const rowOf = (entry: Static<typeof intent>): IntentRow => ({ destination_waba: null, solution: null, ...entry });

export const migrationIntentSection = ownedSection({
  ...intentTable,
  key: "migration_intents",
  entry: intent,
  insert: (tx, entry) => intentTable.insert(tx, rowOf(entry)),
  async replace(tx, entry, _, { status: from }) {
    if (entry.status !== from && !transitions[from].includes(entry.status)) {
      throw new WorldProblem("status", `cannot change from ${from} to ${entry.status}`);
    }
    await intentTable.replace(tx, rowOf(entry));
  },
});
