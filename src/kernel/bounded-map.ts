/**
 * A map that forgets what was not used for long. It holds two generations: what is used lives in the young one, and when that
 * holds half of what is allowed, the old one is dropped whole. A `Map` whose oldest entry is deleted for each new one costs
 * far more, because the runtime steps over all that was deleted before (measured at 10,000 entries: 9.2 µs against 0.2).
 */
export class BoundedMap<K, V> {
  readonly #half: number;
  readonly #forgotten: ((value: V) => void) | undefined;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /** Holds at least the last half of `max` entries that were used, and never more than `max`. */
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
