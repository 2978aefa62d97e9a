/** Checks the rules of a schema about several keys of an object. A rule of an object says which of its keys require or exclude each other. */
import { suggestion } from "#kernel/suggestion";
import { type Read, readAt, ValueProblem } from "./scalars.ts";
import { PROBLEM, type SchemaNode, type ServedIn } from "./schema-node.ts";

type Keys = Readonly<Record<string, unknown>>;

/**
 * Checks the keys of an object. `read` has the object's values after they were read, and `given` has them as the client sent them. Throws
 * `ValueProblem` if the object violates the rule.
 */
export type Rule = (read: Keys, given: Keys, where: ServedIn) => void;

/** Makes a reader for the value of one key, from the schema in a branch (`then` or `else`) of a condition. */
type ReadKey = (node: SchemaNode) => Read;

const has = (keys: Keys, name: string): boolean => Object.hasOwn(keys, name) && keys[name] !== undefined;

/** The rules about several keys of an object. The reader of an object checks each single key, and this reader checks the rules. */
export function rulesOf(node: SchemaNode, readKey: ReadKey, names = Object.keys(node.properties ?? {})): Rule[] {
  const { dependentRequired = {}, anyOf, not, if: condition, ...branches } = node;
  const rules: Rule[] = Object.entries(dependentRequired).map(([name, others]) => {
    const needed = requiring(others);
    return (read) => has(read, name) && needed(read);
  });
  if (anyOf !== undefined) {
    const [first, ...others] = anyOf.flatMap(({ required = [] }) => required);
    const isAny = anyOfThem(anyOf);
    rules.push((read) => {
      if (!isAny(read)) throw new ValueProblem(`or ${others.join(" or ")} is required`, first);
    });
  }
  for (const excluded of not === undefined ? [] : (not.anyOf ?? [not])) {
    const { required: together = [], [PROBLEM]: problem = `cannot be combined with ${together.slice(0, -1).join(", ")}` } = excluded;
    const isExcluded = conditionOf(excluded);
    rules.push((read) => {
      if (isExcluded(read)) throw new ValueProblem(problem, together.at(-1));
    });
  }
  if (condition !== undefined) {
    const [met, unmet] = [branches.then, branches.else].map((branch) => branchOf(branch ?? {}, readKey, names));
    const isMet = conditionOf(condition);
    rules.push((read, given, where) => {
      for (const rule of (isMet(read) ? met : unmet) ?? []) rule(read, given, where);
    });
  }
  return rules;
}

const requiring =
  (names: readonly string[]) =>
  (read: Keys): void => {
    for (const name of names) if (!has(read, name)) throw new ValueProblem("is required", name);
  };

/** The rules in one branch (`then` or `else`) of a condition. The rules of a branch are about required keys, allowed keys and the values of keys. */
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

type Condition = (read: Keys) => boolean;

/**
 * Reads a condition. A condition in a schema can require keys. A condition can also require that a key has a constant value, if the object has the
 * key.
 */
function conditionOf({ required = [], properties = {}, not, anyOf }: SchemaNode): Condition {
  const conditions: Condition[] = required.map((name) => (read) => has(read, name));
  for (const [name, { const: only, enum: allowed = only === undefined ? undefined : [only] }] of Object.entries(properties))
    if (allowed !== undefined) conditions.push((read) => !has(read, name) || allowed.includes(read[name]));
  if (not !== undefined) {
    const isRefused = conditionOf(not);
    conditions.push((read) => !isRefused(read));
  }
  if (anyOf !== undefined) conditions.push(anyOfThem(anyOf));
  return (read) => conditions.every((condition) => condition(read));
}

function anyOfThem(nodes: readonly SchemaNode[]): Condition {
  const conditions = nodes.map(conditionOf);
  return (read) => conditions.some((condition) => condition(read));
}
