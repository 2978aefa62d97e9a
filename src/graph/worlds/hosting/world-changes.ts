/** What a process does with a world as a whole, for the others that have it open. */
import type { Database, Transaction } from "#storage/database";

export type WorldChange = "deleted" | "replaced";

const factOf: Readonly<Record<WorldChange, string>> = { deleted: "world", replaced: "world_replaced" };

/** `process`: the one that does so. */
export const announce = (tx: Transaction, change: WorldChange, process: string, name: string): void =>
  tx.invalidate(factOf[change], `${process} ${name}`);

/** `on` is called with what other processes than `own` do. */
export function followChanges(database: Database, own: string, on: (change: WorldChange, name: string) => void): void {
  database.onInvalidate((kind, key) => {
    const change = kind === factOf.deleted ? "deleted" : kind === factOf.replaced ? "replaced" : undefined;
    const [process, name] = key?.split(" ") ?? [];
    if (change !== undefined && name !== undefined && process !== own) on(change, name);
  });
}
