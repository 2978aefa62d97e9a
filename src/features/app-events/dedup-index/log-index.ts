/** A world's index of its log, in the form that is fastest on its database (README.md: The index of the log). */
import type { World } from "#graph/worlds/world";
import { type LogIndex, TableIndex } from "./entries.store.ts";
import { RunIndex } from "./runs.store.ts";

const indexes = new WeakMap<World, LogIndex>();

export function logIndexOf(world: World): LogIndex {
  let index = indexes.get(world);
  if (index === undefined) {
    index = world.database.dialect === "sqlite" ? new RunIndex(world.database) : new TableIndex();
    indexes.set(world, index);
  }
  return index;
}
