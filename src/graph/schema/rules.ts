/** Rules of a schema about several keys of an object: which keys need or exclude each other. */
import { suggestion } from "#kernel/suggestion";
import { type Read, readAt, ValueProblem } from "./scalars.ts";
import type { SchemaNode, ServedIn } from "./schema-node.ts";

type Keys = Readonly<Record<string, unknown>>;

/** `read` has the values after reading, `given` the values as they were sent. Throws `ValueProblem`. */
export type Rule = (read: Keys, given: Keys, where: ServedIn) => void;

/** Makes a reader of the value of one key, by the schema of a condition's branch. */
type ReadKey = (node: SchemaNode) => Read;

const has = (keys: Keys, name: string): boolean => Object.hasOwn(keys, name) && keys[name] !== undefined;

/** The rules of an object about several keys. The reader itself checks each key. */
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

/** The rules of a condition's branch, also about required and allowed keys, and about their values. */
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

/** Whether a condition is true. It can require keys, and require that a key, if it is there, has a constant value. */
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
