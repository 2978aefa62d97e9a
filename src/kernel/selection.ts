/**
 * Field selection `a,b{c,d}` (A1, D-33). `limit`, `offset` and `.modifier()` inside `fields` are refused.
 */
import { invalidParameter } from "./errors.ts";

export type Selection = ReadonlyMap<string, Selection | undefined>;

/** The text that is read as this selection. */
export function selectionText(selection: Selection): string {
  return [...selection].map(([name, inner]) => (inner === undefined ? name : `${name}{${selectionText(inner)}}`)).join(",");
}

/** `a{b},a{c}` is `a{b,c}`. */
function joined(one: Selection | undefined, other: Selection | undefined): Selection | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const both = new Map(one);
  for (const [name, inner] of other) both.set(name, joined(both.get(name), inner));
  return both;
}

/** Deeper than any shape of the interface; limits recursion. */
const DEPTH_MAX = 8;
/** More than any node type has fields; limits the work of a request. */
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
      selection.set(name, joined(selection.get(name), inner));
      if (text[at] !== ",") return selection;
      at++;
    }
  }

  const selection = list(1);
  if (at < text.length) throw wrong(`has an unexpected character at position ${at}`);
  return selection;
}
