/** Reads the pairs `a=b&c=d` of queries and forms in one scan, without a URL object. */
import { type GraphError, invalidParameter, malformedRequest } from "#kernel/errors";
import { parametersOfAll } from "../contract/operation.ts";
import type { Parameters } from "../pipeline/request.ts";
import { isNested, ParameterTree } from "./parameter-tree.ts";

export interface ParsedPairs {
  readonly parameters: Parameters;
  readonly defect: GraphError | undefined;
}

export const NO_PARAMETERS: Parameters = Object.freeze(Object.create(null)) as Parameters;
const NO_PAIRS: ParsedPairs = { parameters: NO_PARAMETERS, defect: undefined };

/**
 * Reads pairs. If a pair cannot be decoded, it is left out and reported as the `defect`; all other pairs are returned, including tokens. `what` is
 * the name of the query or form in errors, e.g. `The query`.
 */
export function parsePairs(text: string, what: string, countMax?: number): ParsedPairs {
  if (text === "") return NO_PAIRS;
  const tree = new ParameterTree(countMax);
  const isPlain = !text.includes("%") && !text.includes("+");
  let start = 0;
  let equals = text.indexOf("=");
  while (start < text.length) {
    let end = text.indexOf("&", start);
    if (end === -1) end = text.length;
    // The scan searches for the next `=` only after it has passed the last one. A search for `=` in each pair would take quadratic time on `a&a&a`.
    if (equals !== -1 && equals < start) equals = text.indexOf("=", start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    if (end > start && tree.hasCapacityFor(text.slice(start, nameEnd))) {
      const value = nameEnd === end ? "" : text.slice(nameEnd + 1, end);
      if (isPlain) tree.add(text.slice(start, nameEnd), value);
      else addDecoded(tree, text.slice(start, nameEnd), value, what);
    }
    start = end + 1;
  }
  return { parameters: tree.parameters(), defect: tree.defect };
}

function addDecoded(tree: ParameterTree, name: string, value: string, what: string): void {
  const decodedName = decoded(name);
  const decodedValue = decoded(value);
  if (decodedName === undefined) tree.defect ??= malformedRequest(`${what} has a parameter whose name is not percent-encoded UTF-8`);
  else if (decodedValue === undefined) tree.defect ??= invalidParameter(decodedName, "is not percent-encoded UTF-8");
  else tree.add(decodedName, decodedValue);
}

/** Decodes percent-encoded text. Undefined if a `%` of the text is not followed by two hexadecimal digits, or if the decoded bytes are not UTF-8. */
export function decoded(text: string): string | undefined {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

/**
 * Makes parameters from the members of a JSON body, and stops at the greatest number of parameters. D-34: a general parameter whose value is null is
 * left out.
 */
export function parametersOf(source: Readonly<Record<string, unknown>>, countMax?: number): ParsedPairs {
  const tree = new ParameterTree(countMax);
  const parameters = Object.create(null) as Record<string, unknown>;
  for (const name in source) {
    const isLeftOut = source[name] === null && parametersOfAll.has(name);
    if (tree.hasCapacityFor(name) && !isLeftOut) parameters[name] = source[name];
  }
  return { parameters, defect: tree.defect };
}

/** Returns the query without the pairs with these names. The text of all other pairs of the query stays unchanged. */
export function withoutPairs(text: string, isLeftOut: (name: string) => boolean): string {
  const kept = (pair: string) => pair !== "" && !isLeftOut(decoded(pair.split("=", 1)[0] as string) ?? "");
  return text.split("&").filter(kept).join("&");
}

/** Returns the query with further pairs appended. */
export const withPairs = (text: string, more: Parameters): string =>
  [text, ...Object.entries(more).flatMap(([name, value]) => pairsOf(encodeURIComponent(name), value))].filter((pair) => pair !== "").join("&");

/**
 * Writes a parameter as pairs of a query. A value that came with brackets in its name is written with brackets again, because in JSON its numbers and
 * flags would be strings.
 */
function pairsOf(name: string, value: unknown): string[] {
  if (isNested(value)) return Object.entries(value).flatMap(([key, inner]) => nestedPairs(`${name}[${encodeURIComponent(key)}]`, inner));
  return [`${name}=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`];
}

const nestedPairs = (name: string, value: unknown): string[] =>
  Array.isArray(value) ? value.flatMap((item) => pairsOf(`${name}[]`, item)) : pairsOf(name, value);
