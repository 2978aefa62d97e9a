import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import { nodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
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

const closed = { additionalProperties: false };

const solutionEntry = Type.Object({ id: worldId, name: Type.String({ default: "" }), owner_app: worldId }, closed);
type SolutionEntry = Static<typeof solutionEntry>;

export const solutionSection: WorldSection = {
  key: "solutions",
  entry: solutionEntry,
  references: (input) => [{ path: "owner_app", types: ["app"], id: (input as SolutionEntry).owner_app }],
  insert: (tx, input) => insertSolution(tx, input as SolutionEntry),
  find: findSolution,
  list: listSolutions,
  replace: (tx, input) => updateSolution(tx, input as SolutionEntry),
  remove: deleteSolution,
};

const intentEntry = Type.Object(
  {
    id: worldId,
    waba: worldId,
    destination_waba: Type.Optional(worldId),
    solution: Type.Optional(worldId),
    status: Type.Unsafe<Status>({ ...status, default: "INITIATED" }),
  },
  closed,
);
type IntentEntry = Static<typeof intentEntry>;

const rowOf = (input: WorldEntry): IntentRow => {
  const { id, waba, destination_waba = null, solution = null, status: state } = input as IntentEntry;
  return { id, waba, destination_waba, solution, status: state };
};

const entryOf = ({ id, waba, destination_waba, solution, status: state }: IntentRow): WorldEntry => ({
  id,
  waba,
  ...(destination_waba === null ? {} : { destination_waba }),
  ...(solution === null ? {} : { solution }),
  status: state,
});

async function rowById(reader: Reader, id: string): Promise<IntentRow | undefined> {
  const node = await findNode(reader, nodeId(id));
  return node?.type === "migration_intent" ? findIntent(reader, node.owner, id) : undefined;
}

export const migrationIntentSection: WorldSection = {
  key: "migration_intents",
  entry: intentEntry,
  references: (input) => {
    const { waba, destination_waba, solution } = input as IntentEntry;
    return [
      { path: "waba", types: ["chatapp_account"], id: waba },
      ...(destination_waba === undefined ? [] : [{ path: "destination_waba", types: ["chatapp_account"], id: destination_waba }]),
      ...(solution === undefined ? [] : [{ path: "solution", types: ["solution"], id: solution }]),
    ];
  },
  insert: (tx, input) => insertIntent(tx, rowOf(input)),
  async find(reader, id) {
    const row = await rowById(reader, id);
    return row === undefined ? undefined : entryOf(row);
  },
  async list(reader, page) {
    const found = await listAllIntents(reader, page);
    return { ...found, rows: found.rows.map(entryOf) };
  },
  async replace(tx, input) {
    const next = rowOf(input);
    const stored = await rowById(tx, next.id);
    if (stored === undefined || stored.waba !== next.waba) throw new WorldProblem("waba", "cannot change");
    if (next.status !== stored.status && !transitions[stored.status].includes(next.status)) {
      throw new WorldProblem("status", `cannot change from ${stored.status} to ${next.status}`);
    }
    await saveIntent(tx, next);
  },
  async remove(tx, id) {
    const row = await rowById(tx, id);
    return row !== undefined && (await deleteIntent(tx, nodeId(row.waba), id));
  },
};
