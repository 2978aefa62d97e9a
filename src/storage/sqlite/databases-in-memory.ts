/** The databases of a server whose data is in memory. Those that nothing uses are kept small, with no file and no connection. */
import { zstdDecompressSync } from "node:zlib";
import type { Database, Databases, FeatureMigrations } from "../database.ts";
import { emptyFile } from "./empty-file.ts";
import { connectInMemory, SpareConnections } from "./memory.ts";
import { openInMemory } from "./open.ts";
import { compressed, StatesInMemory } from "./saved-states.ts";

interface Kept {
  readonly states: StatesInMemory;
  /** The bytes of the open one. */
  image(): Uint8Array;
  /** Of one that rests: a small world is half a megabyte, of which some 20 kB are left. */
  bytes: Uint8Array | undefined;
}

/** As many tests as a small machine runs at once. */
const SPARE_MAX = 4;

export class DatabasesInMemory implements Databases {
  readonly #migrations: readonly FeatureMigrations[];
  readonly #kept = new Map<string, Kept>();
  readonly #spare = new SpareConnections(SPARE_MAX);
  #isOpen = false;

  constructor(migrations: readonly FeatureMigrations[]) {
    this.#migrations = migrations;
  }

  /** The first one that is opened is closed last. */
  async open(world: string): Promise<Database> {
    const { states = new StatesInMemory(), bytes } = this.#kept.get(world) ?? {};
    const connections =
      bytes === undefined ? (this.#spare.take() ?? connectInMemory(await emptyFile(this.#migrations))) : connectInMemory(zstdDecompressSync(bytes));
    const isFirst = !this.#isOpen;
    this.#isOpen = true;
    const end = (): void => {
      if (isFirst) this.#spare.close();
      this.#spare.giveBack(connections);
    };
    this.#kept.set(world, { states, image: () => connections.writer.image(), bytes: undefined });
    return openInMemory(this.#migrations, connections, states, end);
  }

  async rest(world: string, database: Database): Promise<void> {
    const kept = this.#kept.get(world);
    if (kept !== undefined) kept.bytes = compressed(kept.image());
    await database.close();
  }

  async remove(world: string): Promise<void> {
    this.#kept.delete(world);
  }

  making<T>(_world: string, make: () => Promise<T>): Promise<T> {
    return make();
  }
}
