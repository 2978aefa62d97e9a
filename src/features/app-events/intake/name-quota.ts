/** The limit of event names (LIM-1, LIM-2, D-72). It is exact because the transaction that adds a name holds the app's lock. */
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import type { FactCache } from "#storage/facts";
import { deactivatedName, eventPath, tooManyNames } from "../app-events.errors.ts";
import { countActiveNames, eventNameKey, findNames, insertNames } from "./names.store.ts";

/** Whether a stored name is active. Other processes see a deactivation within 1 s; absence is never cached. */
export type KnownNames = FactCache<{ readonly active: boolean }>;

/** What the quota needs of a report. */
interface NamedEvents {
  readonly events: readonly { readonly name: string }[];
  /** The parameter that contained them, for errors. */
  readonly list: string;
  readonly event_name_limit: number;
}

export class NameQuota {
  readonly #tx: Transaction;
  readonly #app: NodeId;
  readonly #states: Map<string, boolean>;
  readonly #added: string[] = [];
  readonly #limit: number;
  #free: number;

  private constructor(tx: Transaction, app: NodeId, states: Map<string, boolean>, limit: number, free: number) {
    this.#tx = tx;
    this.#app = app;
    this.#states = states;
    this.#limit = limit;
    this.#free = free;
  }

  static async open(tx: Transaction, app: NodeId, known: KnownNames, reports: readonly NamedEvents[]): Promise<NameQuota> {
    const states = new Map<string, boolean>();
    const unknown = new Set<string>();
    for (const { events } of reports) {
      for (const { name } of events) {
        if (states.has(name) || unknown.has(name)) continue;
        const active = known.peek(eventNameKey(app, name))?.active;
        if (active === undefined) unknown.add(name);
        else states.set(name, active);
      }
    }
    const limit = reports[0]?.event_name_limit ?? 0;
    if (unknown.size === 0) return new NameQuota(tx, app, states, limit, 0);
    for (const [name, active] of await findNames(tx, app, [...unknown])) {
      states.set(name, active);
      unknown.delete(name);
      await known.get(eventNameKey(app, name), async () => ({ active }));
    }
    return new NameQuota(tx, app, states, limit, unknown.size === 0 ? 0 : limit - (await countActiveNames(tx, app)));
  }

  /** Adds the new names of a request, or returns the error and adds none. */
  admit({ events, list }: NamedEvents): Error | undefined {
    let added: Set<string> | undefined;
    for (const [at, { name }] of events.entries()) {
      const active = this.#states.get(name);
      if (active === true || added?.has(name) === true) continue;
      if (active === false) return deactivatedName(eventPath(list, at, "_eventName"), name);
      added ??= new Set();
      added.add(name);
      if (added.size > this.#free) return tooManyNames(eventPath(list, at, "_eventName"), name, this.#limit);
    }
    if (added === undefined) return undefined;
    this.#free -= added.size;
    for (const name of added) {
      this.#states.set(name, true);
      this.#added.push(name);
    }
    return undefined;
  }

  async store(): Promise<void> {
    if (this.#added.length > 0) await insertNames(this.#tx, this.#app, this.#added);
  }
}
