/**
 * A map that drops entries that have not been used for a long time. The bounded map has two generations of entries. When an entry is used, it moves
 * to the young generation of the map. When the young generation reaches half of the maximum size, the map drops the whole old generation, and the
 * young generation becomes the old generation. Deleting the oldest entry of a `Map` for each new entry would cost far more, because the runtime steps
 * over all deleted entries (measured with 10,000 entries: 9.2 µs per new entry, against 0.2 µs with two generations).
 */
export class BoundedMap<K, V> {
  readonly #half: number;
  readonly #forgotten: ((value: V) => void) | undefined;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /**
   * The bounded map has at most `max` entries, and never drops the `max / 2` entries that were used last. The map calls `forgotten` with the value of
   * each dropped entry.
   */
  constructor(max: number, forgotten?: (value: V) => void) {
    this.#half = Math.max(1, Math.floor(max / 2));
    this.#forgotten = forgotten;
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#old.delete(key);
    this.#add(key, old);
    return old;
  }

  set(key: K, value: V): void {
    this.#old.delete(key);
    this.#add(key, value);
  }

  delete(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  *values(): Generator<V> {
    yield* this.#young.values();
    yield* this.#old.values();
  }

  #add(key: K, value: V): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      if (this.#forgotten !== undefined) for (const gone of this.#old.values()) this.#forgotten(gone);
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
