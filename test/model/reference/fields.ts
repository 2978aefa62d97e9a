/** Reads `fields`: the selected fields of a node, at every depth (D-33, D-38). */
import { Hole } from "./replies.ts";
import type { Profile } from "./world.ts";

/** The fields of a node or object, the fields that it shows without `fields`, and the fields that it always shows (D-37). */
export interface Shape {
  readonly fields: Readonly<Record<string, true | Shape>>;
  readonly defaults: readonly string[];
  readonly always: readonly string[];
  /** Whether the value of the field is an edge, whose rows are in `data`. */
  readonly isEdge?: true | undefined;
}

export type Selection = ReadonlyMap<string, Selection | undefined>;

/** The fields of an object that is not a node. In a selection without braces, the object shows all of its fields. */
export const objectShape = (...names: string[]): Shape => ({
  fields: Object.fromEntries(names.map((name) => [name, true])),
  defaults: names,
  always: [],
});

/** The selection that a text contains; undefined if the text cannot be read, e.g. because it has a modifier. */
export function parseFields(text: string): Selection | undefined {
  const tokens = text.match(/[{},]|[^{},]+/g) ?? [];
  let position = 0;
  function list(): Map<string, Selection | undefined> | undefined {
    const selection = new Map<string, Selection | undefined>();
    for (;;) {
      const name = tokens[position++]?.trim();
      if (name === undefined || !/^\w+$/.test(name)) return undefined;
      let inner: Map<string, Selection | undefined> | undefined;
      if (tokens[position] === "{") {
        position++;
        inner = list();
        if (inner === undefined || tokens[position++] !== "}") return undefined;
      }
      const before = selection.get(name);
      selection.set(name, selection.has(name) ? both(before, inner) : inner);
      if (tokens[position] !== ",") return selection;
      position++;
    }
  }
  const selection = list();
  return position === tokens.length ? selection : undefined;
}

/** The name that, inside a selection, stands for the fields that a node shows without a selection. */
export const WITHOUT_BRACES = "";

/** D-33: the selections of a field that is named twice, combined. */
function both(one: Selection | undefined, other: Selection | undefined): Map<string, Selection | undefined> | undefined {
  if (one === undefined && other === undefined) return undefined;
  const [first, second] = [one, other].map((selection) => selection ?? new Map([[WITHOUT_BRACES, undefined]])) as [Selection, Selection];
  const alike = [...second].filter(([name]) => first.has(name)).map(([name, inner]) => [name, both(first.get(name), inner)] as const);
  return new Map([...first, ...second, ...alike]);
}

/**
 * Whether the node has all the names of the selection. D-163 [clients]: unknown names are left out of the selection. Histories contain no misspelt
 * field name.
 */
export function isKnown(selection: Selection, { fields }: Shape, profile: Profile): boolean {
  return [...selection].every(([name, inner]) => {
    if (name === WITHOUT_BRACES) return true;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return profile === "clients";
    return inner === undefined || (field !== true && isKnown(inner, field, profile));
  });
}

export function select(value: unknown, shape: Shape, selection: Selection | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => select(item, shape, selection));
  if (typeof value !== "object" || value === null || value instanceof Hole) return value;
  if (shape.isEdge) return { data: select((value as { data: unknown }).data, { ...shape, isEdge: undefined }, selection) };
  const isWhole = selection === undefined || selection.has(WITHOUT_BRACES);
  const names = new Set([...(selection?.keys() ?? []), ...(isWhole ? shape.defaults : []), ...shape.always]);
  const shown: Record<string, unknown> = {};
  for (const name of names) {
    const inner = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (inner === undefined) continue;
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    shown[name] = field === true || field === undefined ? inner : select(inner, field, selection?.get(name));
  }
  return shown;
}
