/** Computes the changes between two states of a world, and the state that follows from changes. A state is a world file without secrets. */

export type State = Readonly<Record<string, unknown>>;

/**
 * A change of one section of a world file. Entries that have ids change one by one, while any other value of a section changes as a whole.
 */
export interface Change {
  /** The section, e.g. `labels`. */
  readonly key: string;
  /** The entry's id; left out if the whole section changes. */
  readonly id?: string;
  /** The old value of the entry or section; left out if there was no value before the change. */
  readonly before?: unknown;
  /** The new value of the entry or section; left out if the value was deleted. */
  readonly after?: unknown;
  /** The ids of the section in their new order, if entries were added, removed or moved. */
  readonly order?: readonly string[];
}

type Entry = Readonly<Record<string, unknown>> & { readonly id: string };

/** Returns the entries of a section by their ids; undefined if an entry has no id or two entries have the same id. */
function entriesOf(value: unknown): ReadonlyMap<string, Entry> | undefined {
  if (!Array.isArray(value)) return undefined;
  const entries = new Map<string, Entry>();
  for (const entry of value as readonly Partial<Entry>[]) {
    if (typeof entry?.id !== "string" || entries.has(entry.id)) return undefined;
    entries.set(entry.id, entry as Entry);
  }
  return entries;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

export function changesBetween(before: State, after: State): readonly Change[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    if (isSame(before[key], after[key])) return [];
    const [old, fresh] = [entriesOf(before[key] ?? []), entriesOf(after[key] ?? [])];
    if (old === undefined || fresh === undefined || !(key in before) || !(key in after)) return [wholeChange(key, before, after)];
    const changed: Change[] = [...new Set([...old.keys(), ...fresh.keys()])]
      .filter((id) => !isSame(old.get(id), fresh.get(id)))
      .map((id) => ({ key, id, ...(old.has(id) ? { before: old.get(id) } : {}), ...(fresh.has(id) ? { after: fresh.get(id) } : {}) }));
    const order = [...fresh.keys()];
    return isSame([...old.keys()], order) ? changed : [...changed, { key, order }];
  });
}

const wholeChange = (key: string, before: State, after: State): Change => ({
  key,
  ...(key in before ? { before: before[key] } : {}),
  ...(key in after ? { after: after[key] } : {}),
});

/**
 * Returns the state of a world after the changes. The page of a trace contains the source text of this function, so the function uses
 * nothing from outside of itself.
 */
export function applyChanges(state: State, changes: readonly Change[]): State {
  const result: Record<string, unknown> = { ...state };
  for (const change of changes) {
    const { key, id, order } = change;
    const list = (Array.isArray(result[key]) ? result[key] : []) as readonly { readonly id: string }[];
    if (order !== undefined) {
      const byId = new Map(list.map((entry) => [entry.id, entry]));
      result[key] = order.map((one) => byId.get(one));
    } else if (id !== undefined) {
      const others = list.filter((entry) => entry.id !== id);
      if (!("after" in change)) result[key] = others;
      else result[key] = list.length === others.length ? [...list, change.after] : list.map((entry) => (entry.id === id ? change.after : entry));
    } else if ("after" in change) result[key] = change.after;
    else delete result[key];
  }
  return result;
}
