/** What a schema says of several keys of an object: which go together, and which exclude each other. */
import { suggestion } from "#kernel/suggestion";
import { type Read, readAt, ValueProblem } from "./scalars.ts";
import type { SchemaNode, ServedIn } from "./schema-node.ts";

type Keys = Readonly<Record<string, unknown>>;

/** `read` holds the keys that have a value, as it was read; `given` the keys as they were sent. Throws `ValueProblem`. */
export type Rule = (read: Keys, given: Keys, where: ServedIn) => void;

/** Makes a reader of the value of one key, by words that count under a condition. */
type ReadKey = (node: SchemaNode) => Read;

const has = (keys: Keys, name: string): boolean => Object.hasOwn(keys, name) && keys[name] !== undefined;

/** The rules of an object beside those of each of its keys, which the reader holds itself. */
export function rulesOf(node: SchemaNode, readKey: ReadKey, names = Object.keys(node.properties ?? {})): Rule[] {
  const { dependentRequired = {}, anyOf, not, if: condition, ...branches } = node;
  const rules: Rule[] = Object.entries(dependentRequired).map(([name, others]) => {
    const needed = requiring(others);
    return (read) => has(read, name) && needed(read);
  });
  if (anyOf !== undefined) {
    const [first, ...others] = anyOf.flatMap(({ required = [] }) => required);
    rules.push((read) => {
      if (!anyOf.some((one) => isSo(one, read))) throw new ValueProblem(`or ${others.join(" or ")} is required`, first);
    });
  }
  for (const excluded of not === undefined ? [] : (not.anyOf ?? [not])) {
    const together = excluded.required ?? [];
    rules.push((read) => {
      if (isSo(excluded, read)) throw new ValueProblem(`cannot be combined with ${together.slice(0, -1).join(", ")}`, together.at(-1));
    });
  }
  if (condition !== undefined) {
    const [met, unmet] = [branches.then, branches.else].map((branch) => branchOf(branch ?? {}, readKey, names));
    rules.push((read, given, where) => {
      for (const rule of (isSo(condition, read) ? met : unmet) ?? []) rule(read, given, where);
    });
  }
  return rules;
}

const requiring =
  (names: readonly string[]) =>
  (read: Keys): void => {
    for (const name of names) if (!has(read, name)) throw new ValueProblem("is required", name);
  };

/** What counts under a condition: also which keys are needed, which there may be, and what their values are. */
function branchOf(node: SchemaNode, readKey: ReadKey, names: readonly string[]): Rule[] {
  const { required = [], properties = {}, additionalProperties } = node;
  const rules: Rule[] = [requiring(required), ...rulesOf(node, readKey, [...names])];
  for (const [name, one] of Object.entries(properties)) {
    if (Object.keys(one).length === 0) continue;
    const again = readKey(one);
    rules.push((read, _given, where) => {
      if (has(read, name)) readAt(name, read[name], again, where);
    });
  }
  if (additionalProperties === false)
    rules.push((_read, given) => {
      for (const name of Object.keys(given))
        if (!Object.hasOwn(properties, name)) throw new ValueProblem(`is not known here${suggestion(name, names.includes(name) ? [] : names)}`, name);
    });
  return rules;
}

/** Of the words that conditions have: keys that are there, and constants that they hold if they are. */
function isSo({ required = [], properties = {}, not, anyOf }: SchemaNode, read: Keys): boolean {
  return (
    required.every((name) => has(read, name)) &&
    Object.entries(properties).every(([name, { const: only, enum: allowed = only === undefined ? undefined : [only] }]) => {
      return allowed === undefined || !has(read, name) || allowed.includes(read[name]);
    }) &&
    (not === undefined || !isSo(not, read)) &&
    (anyOf === undefined || anyOf.some((one) => isSo(one, read)))
  );
}
