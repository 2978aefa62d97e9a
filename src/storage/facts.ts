/**
 * Cached facts (token, node type, role, app, override). Idea 5 of ARCHITECTURE.md:
 *
 * **Invariant:** absence is never cached.
 * **Invariant:** a fact read before an invalidation is never stored after it.
 */
import { BoundedMap } from "#kernel/bounded-map";
import type { Database } from "./database.ts";
import { Doorkeeper } from "./doorkeeper.ts";

/** Entries per kind: at about 300 bytes each, 3 MB at most. */
const ENTRIES_MAX = 10_000;

export class FactCache<T> {
  readonly #entries = new BoundedMap<string, T>(ENTRIES_MAX);
  #doorkeeper: Doorkeeper | undefined;
  #generation = 0;

  constructor(database: Database, kind: string) {
    database.onInvalidate((changedKind, key) => {
      if (changedKind !== undefined && changedKind !== kind) return;
      this.#generation++;
      if (key === undefined) this.#entries.clear();
      else this.#entries.delete(key);
    });
  }

  /** What is known already; the hot path asks this first and so spares a promise. */
  peek(key: string): T | undefined {
    return this.#entries.get(key);
  }

  /**
   * The same as `get` for what the store answers at once: nothing can change meanwhile. Of many that are asked for once each,
   * none is kept.
   */
  getAtOnce(key: string, load: () => T | undefined, keyOf: (fact: T) => string): T | undefined {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const loaded = load();
    this.#doorkeeper ??= new Doorkeeper();
    if (loaded !== undefined && this.#doorkeeper.knows(key)) this.#entries.set(keyOf(loaded), loaded);
    return loaded;
  }

  /** `keyOf` answers the key to keep, where `key` itself is better not kept. */
  async get(key: string, load: () => Promise<T | undefined>, keyOf?: (fact: T) => string): Promise<T | undefined> {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const generation = this.#generation;
    const loaded = await load();
    if (loaded !== undefined && generation === this.#generation) this.#entries.set(keyOf?.(loaded) ?? key, loaded);
    return loaded;
  }
}
