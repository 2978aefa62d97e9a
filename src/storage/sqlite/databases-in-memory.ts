/** The databases of a server whose data is in memory. Those that nothing uses are kept small, with no file and no connection. */
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Database, Databases, FeatureMigrations } from "../database.ts";
import { openInMemory } from "./open.ts";
import { StatesInMemory } from "./saved-states.ts";

interface Kept {
  readonly states: StatesInMemory;
  /** The bytes of the open one. */
  image(): Uint8Array;
  /** Of one that rests: a small world is half a megabyte, of which some 20 kB are left. */
  bytes: Uint8Array | undefined;
}

export class DatabasesInMemory implements Databases {
  readonly #migrations: readonly FeatureMigrations[];
  readonly #kept = new Map<string, Kept>();

  constructor(migrations: readonly FeatureMigrations[]) {
    this.#migrations = migrations;
  }

  async open(world: string): Promise<Database> {
    const { states = new StatesInMemory(), bytes } = this.#kept.get(world) ?? {};
    const begin = bytes === undefined ? undefined : zstdDecompressSync(bytes);
    const { database, image } = await openInMemory(this.#migrations, states, begin);
    this.#kept.set(world, { states, image, bytes: undefined });
    return database;
  }

  async rest(world: string, database: Database): Promise<void> {
    const kept = this.#kept.get(world);
    if (kept !== undefined) kept.bytes = zstdCompressSync(kept.image());
    await database.close();
  }

  async remove(world: string): Promise<void> {
    this.#kept.delete(world);
  }
}
