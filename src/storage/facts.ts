/**
 * The cache of facts (token, node type, role, app, override), which is idea 5 of ARCHITECTURE.md.
 *
 * **Invariant:** the cache never stores that a fact is absent.
 * **Invariant:** a fact that was read before an invalidation is never stored after that invalidation.
 */
import { BoundedMap } from "#kernel/bounded-map";
import type { Awaitable } from "#kernel/turns";
import type { Database } from "./database.ts";

/** The maximum number of cached facts of one kind. A fact takes about 300 bytes, so 10,000 facts take 3 MB at most. */
const ENTRIES_MAX = 10_000;

export class FactCache<T> {
  readonly #entries = new BoundedMap<string, T>(ENTRIES_MAX);
  #generation = 0;

  constructor(database: Database, kind: string) {
    database.onInvalidate((changedKind, key) => {
      if (changedKind !== undefined && changedKind !== kind) return;
      this.#generation++;
      if (key === undefined) this.#entries.clear();
      else this.#entries.delete(key);
    });
  }

  /** Returns the fact if the cache has it. Code that must decide without waiting calls `peek`; code that needs the fact calls `get`. */
  peek(key: string): T | undefined {
    return this.#entries.get(key);
  }

  /**
   * Returns the fact if the cache has it; otherwise loads the fact and returns a promise of it. `keyOf` returns the key under which the fact is
   * cached, if `key` itself must not stay in memory.
   */
  get<K extends string>(key: K, load: (key: K) => Promise<T | undefined>, keyOf?: (fact: T) => string): Awaitable<T | undefined> {
    return this.#entries.get(key) ?? this.#load(key, load, keyOf);
  }

  async #load<K extends string>(key: K, load: (key: K) => Promise<T | undefined>, keyOf?: (fact: T) => string): Promise<T | undefined> {
    const generation = this.#generation;
    const loaded = await load(key);
    if (loaded !== undefined && generation === this.#generation) this.#entries.set(keyOf?.(loaded) ?? key, loaded);
    return loaded;
  }
}
