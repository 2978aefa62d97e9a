/** The selection of fields: `a,b{c,d}` (A1, D-33). `limit`, `offset` and `.modifier()` inside `fields` are refused in a selection. */
import { invalidParameter } from "./errors.ts";

/**
 * The selected names. The value of a name is the selection inside its braces. The inner selection is undefined if the name has no braces; then the
 * response shows the field with its default fields.
 */
export type Selection = ReadonlyMap<string, Selection | undefined>;

/**
 * D-33: a key that no field can have as its name. In a selection this key represents the default fields: `a,a{b}` selects the defaults of `a` and
 * also `b`.
 */
const WITHOUT_BRACES = "";

/** The names of a selection, and whether the default fields are selected too. */
export function named(selection: Selection): { readonly names: Selection; readonly isAlsoWhole: boolean } {
  if (!selection.has(WITHOUT_BRACES)) return { names: selection, isAlsoWhole: false };
  return { names: new Map([...selection].filter(([name]) => name !== WITHOUT_BRACES)), isAlsoWhole: true };
}

/** Writes the selection as text, as in `fields` or inside braces. */
export function selectionText(selection: Selection): string {
  return [...selection].map(([name, inner]) => (inner === undefined ? name : nestedText(name, inner))).join(",");
}

function nestedText(name: string, inner: Selection): string {
  const { names, isAlsoWhole } = named(inner);
  return `${isAlsoWhole ? `${name},` : ""}${name}{${selectionText(names)}}`;
}

/** Returns the union of two selections inside the same field: `a{b},a{c}` is `a{b,c}`. */
export function joined(one: Selection | undefined, other: Selection | undefined): Selection | undefined {
  if (one === undefined && other === undefined) return undefined;
  const both = new Map(one ?? [[WITHOUT_BRACES, undefined]]);
  for (const [name, inner] of other ?? [[WITHOUT_BRACES, undefined]]) both.set(name, both.has(name) ? joined(both.get(name), inner) : inner);
  return both;
}

/** The greatest depth of braces, which limits recursion. No response of the interface has as many levels as this limit allows. */
const DEPTH_MAX = 8;
/** The greatest number of selected names, which limits the work for a request. No node type has as many fields as this limit allows. */
const NAMES_MAX = 200;

const isNameUnit = (unit: number): boolean => (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) || (unit >= 48 && unit <= 57) || unit === 95;

export function parseSelection(text: string): Selection {
  let at = 0;
  let names = 0;

  const wrong = (problem: string) => invalidParameter("fields", problem);
  const skipSpace = () => {
    while (text.charCodeAt(at) === 32) at++;
  };

  function list(depth: number): Selection {
    if (depth > DEPTH_MAX) throw wrong(`nests deeper than ${DEPTH_MAX} levels`);
    const selection = new Map<string, Selection | undefined>();
    for (;;) {
      skipSpace();
      const start = at;
      while (at < text.length && isNameUnit(text.charCodeAt(at))) at++;
      if (at === start) throw wrong(at < text.length ? `has an unexpected character at position ${at}` : "ends where a field name is expected");
      const name = text.slice(start, at);
      if (++names > NAMES_MAX) throw wrong(`names more than ${NAMES_MAX} fields`);
      skipSpace();
      const next = text[at];
      if (next === "." || next === "(") throw wrong(`uses ${next === "." ? "a modifier" : "arguments"} on ${name}, which is unsupported`);
      let inner: Selection | undefined;
      if (next === "{") {
        at++;
        inner = list(depth + 1);
        if (text[at] !== "}") throw wrong(`lacks a closing brace after ${name}`);
        at++;
        skipSpace();
      }
      selection.set(name, selection.has(name) ? joined(selection.get(name), inner) : inner);
      if (text[at] !== ",") return selection;
      at++;
    }
  }

  const selection = list(1);
  if (at < text.length) throw wrong(`has an unexpected character at position ${at}`);
  return selection;
}
