import { type Static, Type } from "typebox";
import { closedMap, idOf, WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { ownedSection, section } from "#graph/worlds/file/section";
import { status } from "./migration-intents.contract.ts";
import { type Status, transitions } from "./migration-intents.states.ts";
import {
  deleteIntent,
  deleteSolution,
  findIntent,
  findSolution,
  type IntentRow,
  insertIntent,
  insertSolution,
  listAllIntents,
  listSolutions,
  saveIntent,
  updateSolution,
} from "./migration-intents.store.ts";

export const solutionSection = section({
  key: "solutions",
  entry: closedMap({ id: worldId, name: Type.String({ default: "" }), owner_app: idOf("app") }),
  insert: insertSolution,
  find: findSolution,
  list: listSolutions,
  replace: updateSolution,
  remove: deleteSolution,
});

const intent = closedMap({
  id: worldId,
  waba: idOf("chatapp_account"),
  destination_waba: Type.Optional(idOf("chatapp_account")),
  solution: Type.Optional(idOf("solution")),
  status: Type.Unsafe<Status>({ ...status, default: "INITIATED" }),
});

const rowOf = (entry: Static<typeof intent>): IntentRow => ({ destination_waba: null, solution: null, ...entry });

export const migrationIntentSection = ownedSection({
  key: "migration_intents",
  nodeType: "migration_intent",
  owner: "waba",
  entry: intent,
  insert: (tx, entry) => insertIntent(tx, rowOf(entry)),
  find: findIntent,
  list: listAllIntents,
  async replace(tx, entry, _, { status: from }) {
    if (entry.status !== from && !transitions[from].includes(entry.status)) {
      throw new WorldProblem("status", `cannot change from ${from} to ${entry.status}`);
    }
    await saveIntent(tx, rowOf(entry));
  },
  remove: deleteIntent,
});
