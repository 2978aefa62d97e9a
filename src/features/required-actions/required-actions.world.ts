import { type Static, Type } from "typebox";
import { closedMap, described, idOf, WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { ACTION_ID_MAX, status } from "./required-actions.contract.ts";
import { statusAt, transitions } from "./required-actions.states.ts";
import { type ActionRow, actionTable } from "./required-actions.store.ts";

const entry = closedMap(
  {
    id: described("the action's id, below 2^53", worldId),
    app: described("the app whose developers must act", idOf("app")),
    title: Type.String({ default: "", description: "the task in a few words" }),
    description: Type.Optional(Type.String({ description: "the task in detail" })),
    due_date: Type.Optional(described("the time after which an action that is not completed is `past_due` (default: never)", worldTime)),
    status: Type.Unsafe<Static<typeof status>>({
      ...status,
      default: "in_progress",
      description: "the status goes from `in_progress` to `in_review`, then to `completed` or back to `in_progress`; from `past_due` to `in_review`",
    }),
  },
  "something that the platform requires the developers of an app to do",
);

function rowOf({ description = undefined, due_date = undefined, ...rest }: Static<typeof entry>, { clock }: World): ActionRow {
  if (Number(rest.id) > ACTION_ID_MAX) throw new WorldProblem("id", "must be below 2^53");
  return { ...rest, description: description ?? null, due_date: due_date ?? null, status_time: unixSeconds(clock) };
}

/**
 * The number of last bits that are removed from an id that Plaza makes for a required action. Ids that Plaza makes may have 63 bits. Without its last
 * ten bits, such an id is below 2^53 (D-02), and later ids are still greater than earlier ids.
 */
const SURPLUS_BITS = 10n;

async function mintId(tx: Transaction, world: World): Promise<string> {
  const minted = BigInt(world.ids.mint());
  let id = minted > ACTION_ID_MAX ? minted >> SURPLUS_BITS : minted;
  while ((await findNode(tx, nodeId(String(id)))) !== undefined) id++;
  return String(id);
}

export const requiredActionSection = ownedSection({
  ...actionTable,
  key: "required_actions",
  entry,
  mintId,
  insert: async (tx, given, world) => actionTable.insert(tx, rowOf(given, world)),
  entryOf: ({ status_time, ...row }: ActionRow, _, { clock }) => ({ ...row, status: statusAt({ ...row, status_time }, unixSeconds(clock)) }),
  async replace(tx, given, world, stored) {
    const next = rowOf(given, world);
    const from = statusAt(stored, next.status_time);
    if (next.status !== from && !transitions[from].includes(next.status)) {
      throw new WorldProblem("status", `cannot change from ${from} to ${next.status}`);
    }
    await actionTable.replace(tx, next);
  },
});
