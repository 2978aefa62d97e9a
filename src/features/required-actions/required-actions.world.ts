import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { ACTION_ID_MAX, status } from "./required-actions.contract.ts";
import { statusAt, transitions } from "./required-actions.states.ts";
import { type ActionRow, deleteAction, findAction, insertAction, listAllActions, saveAction } from "./required-actions.store.ts";

const entry = Type.Object(
  {
    id: worldId,
    app: worldId,
    title: Type.String({ default: "" }),
    description: Type.Optional(Type.String()),
    due_date: Type.Optional(worldTime),
    status: Type.Unsafe<Static<typeof status>>({ ...status, default: "in_progress" }),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof entry>;

function rowOf(input: WorldEntry, status_time: number): ActionRow {
  const { id, app, title, description = null, due_date = null, status: state } = input as Entry;
  if (Number(id) > ACTION_ID_MAX) throw new WorldProblem("id", "must be below 2^53");
  return { id, app, title, description, due_date, status: state, status_time };
}

const entryOf = ({ id, app, title, description, due_date, ...facts }: ActionRow, now: number): WorldEntry => ({
  id,
  app,
  title,
  ...(description === null ? {} : { description }),
  ...(due_date === null ? {} : { due_date }),
  status: statusAt({ ...facts, due_date }, now),
});

/** Minted ids may have 63 bits. Without the last ten they still increase with time and are below 2^53 (D-02). */
const SURPLUS_BITS = 10n;

async function mintId(tx: Transaction, world: World): Promise<string> {
  const minted = BigInt(world.ids.mint());
  let id = minted > ACTION_ID_MAX ? minted >> SURPLUS_BITS : minted;
  while ((await findNode(tx, nodeId(String(id)))) !== undefined) id++;
  return String(id);
}

async function replace(tx: Parameters<WorldSection["replace"]>[0], input: WorldEntry, world: World): Promise<void> {
  const now = unixSeconds(world.clock);
  const stored = await findAction(tx, nodeId(rowOf(input, now).app), rowOf(input, now).id);
  if (stored === undefined) throw new WorldProblem("app", "cannot change");
  const next = rowOf(input, now);
  const from = statusAt(stored, now);
  if (next.status !== from && !transitions[from].includes(next.status)) {
    throw new WorldProblem("status", `cannot change from ${from} to ${next.status}`);
  }
  await saveAction(tx, next);
}

export const requiredActionSection: WorldSection = {
  key: "required_actions",
  entry,
  mintId,
  references: (input) => [{ path: "app", types: ["app"], id: (input as Entry).app }],
  insert: (tx, input, world) => insertAction(tx, rowOf(input, unixSeconds(world.clock))),
  async find(reader, id, world) {
    const node = await findNode(reader, nodeId(id));
    const row = node?.type === "required_action" ? await findAction(reader, node.owner, id) : undefined;
    return row === undefined ? undefined : entryOf(row, unixSeconds(world.clock));
  },
  async list(reader, page, world) {
    const found = await listAllActions(reader, page);
    return { ...found, rows: found.rows.map((row) => entryOf(row, unixSeconds(world.clock))) };
  },
  replace,
  async remove(tx, id) {
    const node = await findNode(tx, nodeId(id));
    return node?.type === "required_action" && (await deleteAction(tx, node.owner, id));
  },
};
