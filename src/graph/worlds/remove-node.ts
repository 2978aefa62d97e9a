import { unixSeconds } from "#kernel/clock";
import { isNodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import type { WorldSection } from "../contract/feature.ts";
import type { Registry } from "../contract/registry.ts";
import type { OpenWorld } from "./open-world.ts";

/** Removes a node and what hangs on it. Returns whether the node was there. */
export async function removeNode(tx: Transaction, registry: Registry, world: OpenWorld, section: WorldSection, id: string): Promise<boolean> {
  if (!(await section.remove(tx, id, world))) return false;
  // What other features keep below a page, app or account goes with it.
  if (!isNodeId(id)) return true;
  for (const feature of registry.features) await feature.onOwnerDeleted?.(tx, id, world);
  await world.tokens.forgetNode(tx, id, unixSeconds(world.clock));
  return true;
}
