/** A new node gets an id that nobody has: a world file can have brought any id along, also those that are still to be minted. */
import type { IdMinter, NodeId } from "#kernel/ids";

/** A world file has at most a few ids in the way; more refusals than these have another cause. */
const TRIES_MAX = 1_000;

/** Calls `insert`, which says whether the id was free, with minted ids until one is, and returns that one. */
export async function insertMinted(ids: IdMinter, insert: (id: NodeId) => Promise<boolean>): Promise<NodeId> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const id = ids.mint();
    if (await insert(id)) return id;
  }
  throw new Error(`none of ${TRIES_MAX} minted ids was free`);
}
