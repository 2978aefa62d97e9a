/**
 * Makes a reader from a schema. A reader is a function that checks a value and returns the value in its normal form. The reader is made of closures,
 * once for each schema. TypeBox's own compiler is not used: its first check after a start takes 30 ms longer, its errors have other paths, and ids,
 * times and values that are written as text would need a second pass.
 */
import type { TSchema } from "typebox";
import { suggestion } from "#kernel/suggestion";
import { isStorableText } from "#kernel/text";
import { JsonNumber } from "../pipeline/request.ts";
import { rulesOf } from "./rules.ts";
import { boolean, constants, type Dialect, integer, nothing, number, type Read, readAt, storable, text, ValueProblem } from "./scalars.ts";
import { checkWords, NAMES_OF, ONLY_IN, PROBLEM, READ_AS, type SchemaNode, type ServedIn } from "./schema-node.ts";

/**
 * Makes the reader of values for a schema. The schema is compiled when its reader is first called, because compiling all schemas takes 15 ms and a
 * start needs only a few. For a wrong value, the reader throws `ValueProblem`, or the error of a format. If the schema has unsupported keywords or
 * types, the first call of its reader throws an ordinary `Error`.
 */
export function readerOf(schema: TSchema, dialect: Dialect): Read {
  let read: Read | undefined;
  return (value, where) => {
    read ??= compile(schema as SchemaNode, dialect);
    return read(value, where);
  };
}

function compile(node: SchemaNode, dialect: Dialect): Read {
  // The feature itself reads the value of this schema with its own code.
  if (node["x-plaza-raw"] === true) return (value) => value;
  checkWords(node);
  const read = valueReader(node, dialect);
  const problem = node[PROBLEM];
  if (problem === undefined) return read;
  return (value, where) => {
    try {
      return read(value, where);
    } catch (error) {
      throw error instanceof ValueProblem ? new ValueProblem(problem) : error;
    }
  };
}

function valueReader(node: SchemaNode, dialect: Dialect): Read {
  const reading = node[READ_AS] === undefined ? undefined : dialect.readings[node[READ_AS]];
  if (reading !== undefined) return reading;
  if (node.const !== undefined || node.enum !== undefined) return constants(node.enum ?? [node.const], dialect);
  // In the schema of an object, `anyOf` is a rule about the object's keys and not a choice of schemas.
  if (node.anyOf !== undefined && node.type !== "object") return alternatives(node.anyOf, dialect);
  switch (node.type) {
    case "string":
      return text(node, dialect);
    case "integer":
      return integer(node, dialect);
    case "number":
      return number(node, dialect);
    case "boolean":
      return boolean(dialect);
    case "null":
      return nothing(dialect);
    case "array":
      return list(node, dialect);
    case "object":
      return object(node, dialect);
    case undefined:
      return node.format === "binary" ? file : anything;
    default:
      throw new Error(`no value is read by the schema type ${node.type}`);
  }
}

/**
 * Reads a value by the first schema that it matches. If the value matches no schema, the error with the deepest path is thrown, because the caller
 * has probably meant that alternative.
 */
function alternatives(options: readonly SchemaNode[], dialect: Dialect): Read {
  if (options.some((option) => option[ONLY_IN] !== undefined)) {
    const [strict, clients] = (["strict", "clients"] as const).map((profile) => {
      const served = options.filter(({ [ONLY_IN]: only = profile }) => only === profile);
      return alternatives(
        served.map(({ [ONLY_IN]: _, ...option }) => option),
        dialect,
      );
    }) as [Read, Read];
    return (value, where) => (where.profile === "strict" ? strict(value, where) : clients(value, where));
  }
  if (options.every((option) => option.const !== undefined)) {
    options.forEach(checkWords);
    return constants(
      options.map((option) => option.const),
      dialect,
    );
  }
  const readings = options.map((option) => compile(option, dialect));
  return (value, where) => {
    let problem: unknown;
    for (const read of readings) {
      try {
        return read(value, where);
      } catch (error) {
        if (problem === undefined || depthOf(error) > depthOf(problem)) problem = error;
      }
    }
    throw problem;
  };
}

/**
 * The depth of the path that a problem names. An error that is not a `ValueProblem` comes from a format and counts as the deepest, because the caller
 * has probably meant that alternative.
 */
const depthOf = (error: unknown): number =>
  error instanceof ValueProblem ? error.path.split(/[.[]/).filter((step) => step !== "").length : Number.POSITIVE_INFINITY;

/** Accepts a file of multipart/form-data in the form in which the request has it. */
const file: Read = (value) => {
  if (typeof value === "object" && value !== null && "bytes" in value && value.bytes instanceof Uint8Array) return value;
  throw new ValueProblem("must be a file of multipart/form-data");
};

function list(node: SchemaNode, dialect: Dialect): Read {
  const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = node;
  const { coerce } = dialect;
  const read = compile(items, dialect);
  return (given, where) => {
    const value = coerce === undefined ? given : coerce.list(given, items.type !== "object");
    if (!Array.isArray(value)) throw new ValueProblem("must be a list");
    if (value.length < minItems) throw new ValueProblem(minItems === 1 ? "must not be empty" : `must hold at least ${minItems} items`);
    if (value.length > maxItems) throw new ValueProblem(`must hold at most ${maxItems} items`);
    // The items of the text `a,b` have no index that the caller would recognize, so errors do not name an index.
    const hasPlaces = typeof given !== "string" || given.trimStart().startsWith("[");
    return hasPlaces ? value.map((item, index) => readAt(index, item, read, where)) : value.map((item) => read(item, where));
  };
}

interface ObjectField {
  readonly name: string;
  readonly isRequired: boolean;
  readonly read: Read;
  /** Whether the field's schema allows the value null. For fields that do not allow null, null means that the key is missing. */
  readonly takesNull: boolean;
  readonly fallback: unknown;
}

const fieldsOf = ({ properties = {}, required = [] }: SchemaNode, dialect: Dialect): ObjectField[] =>
  Object.entries(properties).map(([name, node]) => ({
    name,
    isRequired: required.includes(name),
    read: compile(node, dialect),
    takesNull: node.type === "null" || node.anyOf?.some(({ type }) => type === "null") === true,
    fallback: node.default,
  }));

function object(node: SchemaNode, dialect: Dialect): Read {
  const fields = fieldsOf(node, dialect);
  const readOthers = othersOf(node, dialect);
  const isMissingLast = dialect.missingKeys === "last";
  const rules = rulesOf(node, (one) => compile(one, dialect));
  return (value, where) => {
    const source = dialect.coerce === undefined ? value : dialect.coerce.object(value);
    if (typeof source !== "object" || source === null || Array.isArray(source)) throw new ValueProblem(dialect.messages.notObject);
    const given = source as Readonly<Record<string, unknown>>;
    const result: Record<string, unknown> = {};
    let found = 0;
    let missing: string | undefined;
    let last: unknown;
    for (const { name, isRequired, read, takesNull, fallback } of fields) {
      const own = Object.hasOwn(given, name) ? given[name] : undefined;
      if (own !== undefined) found++;
      if (own === undefined || (own === null && !takesNull)) {
        if (fallback !== undefined) result[name] = structuredClone(fallback);
        else if (isRequired) missing ??= name;
        if (missing !== undefined && !isMissingLast) break;
        continue;
      }
      try {
        result[name] = readAt(name, own, read, where);
      } catch (error) {
        // The error of a format, for example about a callback that cannot be called, is thrown only if the rest of the object is valid.
        if (error instanceof ValueProblem) throw error;
        last ??= error;
        result[name] = own;
      }
    }
    if (missing === undefined || isMissingLast) readOthers?.(given, found, result, where);
    // Unknown keys were reported before the missing keys, because a missing key is often a misspelt one.
    if (missing !== undefined) throw new ValueProblem("is required", missing);
    for (const rule of rules) rule(result, given, where);
    if (last !== undefined) throw last;
    return result;
  };
}

/** Copies undeclared keys into `result`, or refuses them. `found` is the number of declared keys that the value has. */
type ReadOthers = (given: Readonly<Record<string, unknown>>, found: number, result: Record<string, unknown>, where: ServedIn) => void;

function othersOf(
  { properties = {}, additionalProperties, patternProperties, [NAMES_OF]: names }: SchemaNode,
  dialect: Dialect,
): ReadOthers | undefined {
  const others = patternProperties === undefined ? additionalProperties : Object.values(patternProperties)[0];
  if (others === undefined && dialect.undeclaredKeys === "left out") return undefined;
  const read = typeof others === "object" ? compile(others, dialect) : anything;
  return (given, found, result, where) => {
    const keys = Object.keys(given);
    for (const key of keys.length === found ? [] : keys) {
      if (Object.hasOwn(properties, key)) continue;
      const known = names === undefined ? Object.keys(properties) : where.namesOf(names);
      if (others === false || (names !== undefined && !known.includes(key)))
        throw new ValueProblem(`is not known here${suggestion(key, known)}`, key);
      define(result, key, given[key], read, where);
    }
  };
}

/** The greatest depth of a caller's JSON. The limit of the depth is necessary because in YAML a list can even contain itself. */
const DEPTH_MAX = 32;

/** Reads a value of any type, but refuses text that cannot be stored. Numbers that a float cannot represent become text. */
const anything: Read = (value, where) => anythingAt(value, where, 1);

function anythingAt(value: unknown, where: ServedIn, depth: number): unknown {
  if (typeof value === "string") return storable(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof JsonNumber) return value.text;
  if (depth > DEPTH_MAX) throw new ValueProblem(`nests deeper than ${DEPTH_MAX} levels`);
  const read: Read = (inner) => anythingAt(inner, where, depth + 1);
  if (Array.isArray(value)) return value.map((item, index) => readAt(index, item, read, where));
  const result: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) define(result, key, inner, read, where);
  return result;
}

/**
 * Sets a key of an object; even `__proto__` becomes an ordinary key. Throws `ValueProblem` if the key cannot be stored. The path in the error
 * does not contain the key that cannot be stored.
 */
function define(result: Record<string, unknown>, key: string, value: unknown, read: Read, where: ServedIn): void {
  if (!isStorableText(key)) throw new ValueProblem("has a key with U+0000 or a lone surrogate");
  Object.defineProperty(result, key, { value: readAt(key, value, read, where), enumerable: true, configurable: true, writable: true });
}
