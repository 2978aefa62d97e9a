import { type Static, Type } from "typebox";
import { closedMap, idOf, WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { ACTION_ID_MAX, status } from "./required-actions.contract.ts";
import { statusAt, transitions } from "./required-actions.states.ts";
import { type ActionRow, deleteAction, findAction, insertAction, listAllActions, saveAction } from "./required-actions.store.ts";

const entry = closedMap({
  id: worldId,
  app: idOf("app"),
  title: Type.String({ default: "" }),
  description: Type.Optional(Type.String()),
  due_date: Type.Optional(worldTime),
  status: Type.Unsafe<Static<typeof status>>({ ...status, default: "in_progress" }),
});

function rowOf({ description = undefined, due_date = undefined, ...rest }: Static<typeof entry>, { clock }: World): ActionRow {
  if (Number(rest.id) > ACTION_ID_MAX) throw new WorldProblem("id", "must be below 2^53");
  return { ...rest, description: description ?? null, due_date: due_date ?? null, status_time: unixSeconds(clock) };
}

/**
 * The number of bits that are removed from a minted id. Minted ids may have 63 bits. Without the last ten bits they still increase with time, and are
 * below 2^53 (D-02).
 */
const SURPLUS_BITS = 10n;

async function mintId(tx: Transaction, world: World): Promise<string> {
  const minted = BigInt(world.ids.mint());
  let id = minted > ACTION_ID_MAX ? minted >> SURPLUS_BITS : minted;
  while ((await findNode(tx, nodeId(String(id)))) !== undefined) id++;
  return String(id);
}

export const requiredActionSection = ownedSection({
  key: "required_actions",
  nodeType: "required_action",
  owner: "app",
  entry,
  mintId,
  insert: async (tx, given, world) => insertAction(tx, rowOf(given, world)),
  find: findAction,
  list: listAllActions,
  entryOf: ({ status_time, ...row }: ActionRow, _, { clock }) => ({ ...row, status: statusAt({ ...row, status_time }, unixSeconds(clock)) }),
  async replace(tx, given, world, stored) {
    const next = rowOf(given, world);
    const from = statusAt(stored, next.status_time);
    if (next.status !== from && !transitions[from].includes(next.status)) {
      throw new WorldProblem("status", `cannot change from ${from} to ${next.status}`);
    }
    await saveAction(tx, next);
  },
  remove: deleteAction,
});
