/**
 * The names that programs asked for and that Plaza does not have (D-394): edges, fields and versions of a larger platform. Only a sandbox collects
 * unserved names, in the memory of each process. The entries about unserved names do not contain secrets, and each text has a limited length.
 */
import { detached } from "#kernel/text";

/** A name that a request asked for and that Plaza does not have. */
export interface UnservedName {
  readonly kind: "edge" | "field" | "version";
  /** The name. For an edge, the name is its path, with the node type in place of the id (`page/insights`). */
  readonly name: string;
  /** The method of the request, if the name is an edge. */
  readonly method?: string;
  /** The node type or the edge to which the unserved field would belong. */
  readonly of?: string;
  /** A name that Plaza has and that differs from the requested name in only a few letters. */
  readonly did_you_mean?: string;
  /** If Plaza serves the edge in another way, says how: on another surface, with another method, or in another profile. */
  readonly hint?: string;
}

export interface Unserved extends UnservedName {
  readonly count: number;
  /** The ids of at most 10 apps that asked for the name. A request without a valid token is counted without an app. */
  readonly apps: readonly string[];
  /** World time in Unix ms. */
  readonly first_ms: number;
  readonly last_ms: number;
  /** The trace id of the last request that asked for the name. */
  readonly trace_id: string;
}

/**
 * The greatest number of names in the list of unserved names. A program usually asks for some dozens of unserved names; more names come from paths
 * that contain values.
 */
export const NAMES_MAX = 200;
/** The greatest length of a name in the list of unserved names. The longest name of the interface is at most half as long. */
export const NAME_CHARACTERS_MAX = 100;
const APPS_MAX = 10;

/** The request that asked for an unserved name. */
export interface Asking {
  readonly app: string | undefined;
  /** World time in Unix ms. */
  readonly timeMs: number;
  readonly trace_id: string;
}

export class UnservedNames {
  readonly #entries = new Map<string, Unserved>();
  #others = 0;

  note(asked: UnservedName, { app, timeMs, trace_id }: Asking): void {
    this.#add({ ...asked, count: 1, apps: app === undefined ? [] : [app], first_ms: timeMs, last_ms: timeMs, trace_id });
  }

  /** Adds the entries of another process's list of unserved names. */
  adopt({ entries, others }: TakenNames): void {
    for (const entry of entries) this.#add(entry);
    this.#others += others;
  }

  #add(entry: Unserved): void {
    const key = `${entry.kind} ${entry.method} ${entry.of} ${entry.name}`;
    const known = this.#entries.get(key);
    if (known !== undefined) {
      const apps = known.apps.length >= APPS_MAX || isWithin(entry.apps, known.apps) ? known.apps : joined(known.apps, entry.apps);
      const { count, last_ms, trace_id } = entry;
      this.#entries.set(key, { ...known, apps, last_ms, trace_id, count: known.count + count });
    } else if (this.#entries.size < NAMES_MAX) this.#entries.set(detached(key), { ...entry, name: detached(entry.name) });
    else this.#others += entry.count;
  }

  /** All entries about unserved names, the most frequent first. */
  list(): Unserved[] {
    return [...this.#entries.values()].sort((one, other) => other.count - one.count);
  }

  /** The number of requests for names that were not added, because the list was full. */
  get others(): number {
    return this.#others;
  }

  /** Returns all entries about unserved names and deletes them, so that another process can add them. */
  take(): TakenNames {
    const taken = { entries: this.list(), others: this.#others };
    this.clear();
    return taken;
  }

  clear(): void {
    this.#entries.clear();
    this.#others = 0;
  }
}

export interface TakenNames {
  readonly entries: readonly Unserved[];
  readonly others: number;
}

const isWithin = (some: readonly string[], all: readonly string[]): boolean => some.every((one) => all.includes(one));
const joined = (one: readonly string[], other: readonly string[]): string[] => [...new Set([...one, ...other])].slice(0, APPS_MAX);
