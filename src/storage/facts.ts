/**
 * Cached facts (token, node type, role, app, override). Idea 5 of ARCHITECTURE.md:
 *
 * **Invariant:** absence is never cached.
 * **Invariant:** a fact read before an invalidation is never stored after it.
 */
import { BoundedMap } from "#kernel/bounded-map";
import type { Database } from "./database.ts";

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

  /** The cached fact. The hot path reads it first, which saves a promise. */
  peek(key: string): T | undefined {
    return this.#entries.get(key);
  }

  /**
   * `get` for a synchronous read, during which nothing can change. Facts that are requested only once are not kept.
   */
  getAtOnce(key: string, load: () => T | undefined, keyOf: (fact: T) => string): T | undefined {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const loaded = load();
    this.#doorkeeper ??= new Doorkeeper();
    if (loaded !== undefined && this.#doorkeeper.knows(key)) this.#entries.set(keyOf(loaded), loaded);
    return loaded;
  }

  /** `keyOf` returns the key to keep if `key` itself must not be kept. */
  async get(key: string, load: () => Promise<T | undefined>, keyOf?: (fact: T) => string): Promise<T | undefined> {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const generation = this.#generation;
    const loaded = await load();
    if (loaded !== undefined && generation === this.#generation) this.#entries.set(keyOf?.(loaded) ?? key, loaded);
    return loaded;
  }
}

/**
 * Decides which facts a cache keeps: those that are requested again before some 16,000 others. A caller that reads a million nodes
 * therefore evicts nothing and leaves no garbage (measured: such a request costs 9 µs instead of 10.2).
 */
export class Doorkeeper {
  readonly #seen = new Int32Array(16_384);

  /** Whether the key was requested recently. A wrong result only keeps a fact too early or too late. */
  knows(key: string): boolean {
    const mark = markOf(key);
    const place = mark & (this.#seen.length - 1);
    if (this.#seen[place] === mark) return true;
    this.#seen[place] = mark;
    return false;
  }
}

/** FNV-1a. */
function markOf(key: string): number {
  let mark = 0x811c9dc5 | 0;
  for (let i = 0; i < key.length; i++) mark = Math.imul(mark ^ key.charCodeAt(i), 0x01000193);
  return mark ^ (mark >>> 15);
}
