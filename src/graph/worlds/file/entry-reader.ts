/**
 * Reads an entry of a world file, or a control request's body, by its schema: checked strictly, ids and times brought to one
 * form, `default`s filled in. Made once per schema, of closures: with TypeBox's own compiler the first check of a start costs
 * 30 ms more, its errors name no path of this form, and ids and times would need a walk of their own.
 */
import type { TSchema } from "typebox";
import { codePointCount, isStorableText } from "#kernel/text";
import { READ_AS, readId, secondsOf, WorldProblem } from "./schema-words.ts";

/** The JSON Schema words that entries use; another one keeps the server from starting. */
interface SchemaNode {
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly SchemaNode[];
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: SchemaNode;
  properties?: Record<string, SchemaNode>;
  required?: readonly string[];
  additionalProperties?: boolean | SchemaNode;
  patternProperties?: Record<string, SchemaNode>;
  default?: unknown;
  [READ_AS]?: string;
}

const KNOWN = new Set(
  `type const enum anyOf minLength maxLength pattern minimum maximum minItems maxItems items properties required additionalProperties patternProperties
   default ${READ_AS} description title examples format`.split(/\s+/),
);

export type ReadEntry = (value: unknown) => unknown;

const made = new WeakMap<object, ReadEntry>();

/** The reader of a schema. It answers the value as it is to be stored, or throws `WorldProblem` with the path inside the value. */
export function entryReader(schema: TSchema): ReadEntry {
  let read = made.get(schema);
  if (read === undefined) {
    read = readerOf(schema as SchemaNode);
    made.set(schema, read);
  }
  return read;
}

const wrong = (problem: string): WorldProblem => new WorldProblem("", problem);

/** Throws the problem on, seen from one level higher. */
function under(error: unknown, step: string | number): never {
  if (!(error instanceof WorldProblem)) throw error;
  const own = typeof step === "number" ? `[${step}]` : step;
  const rest = error.path === "" || error.path.startsWith("[") ? error.path : `.${error.path}`;
  throw new WorldProblem(own + rest, error.problem);
}

function readerOf(words: SchemaNode): ReadEntry {
  for (const word of Object.keys(words)) if (!KNOWN.has(word)) throw new Error(`entries are not read by the schema word ${word}`);
  if (words[READ_AS] === "id") return (value) => readId(value, "");
  if (words[READ_AS] === "time") return (value) => secondsOf(value, "");
  if (words.const !== undefined || words.enum !== undefined) return constants(words.enum ?? [words.const]);
  if (words.anyOf !== undefined) return alternatives(words.anyOf);
  switch (words.type) {
    case "string":
      return text(words);
    case "integer":
    case "number":
      return number(words);
    case "boolean":
      return (value) => {
        if (typeof value !== "boolean") throw wrong("must be true or false");
        return value;
      };
    case "null":
      return (value) => {
        if (value !== null) throw wrong("must be null");
        return value;
      };
    case "array":
      return array(words);
    case "object":
      return object(words);
    case undefined:
      return anything;
    default:
      throw new Error(`entries are not read by the schema type ${words.type}`);
  }
}

function constants(allowed: readonly unknown[]): ReadEntry {
  const set = new Set(allowed);
  return (value) => {
    if (!set.has(value)) throw wrong(`must be ${allowed.length === 1 ? "" : "one of "}${allowed.map((word) => String(word)).join(", ")}`);
    return value;
  };
}

function alternatives(options: readonly SchemaNode[]): ReadEntry {
  if (options.every((option) => option.const !== undefined)) return constants(options.map((option) => option.const));
  const ports = options.map(readerOf);
  return (value) => {
    let problem: unknown;
    for (const read of ports) {
      try {
        return read(value);
      } catch (error) {
        problem ??= error;
      }
    }
    throw problem;
  };
}

function storable(value: string): string {
  if (!isStorableText(value)) throw wrong("contains U+0000 or a lone surrogate");
  return value;
}

function text({ minLength, maxLength, pattern }: SchemaNode): ReadEntry {
  const expression = pattern === undefined ? undefined : new RegExp(pattern, "u");
  return (value) => {
    if (typeof value !== "string") throw wrong(typeof value === "number" ? "must be a text; put it in quotes" : "must be a text");
    storable(value);
    if (minLength !== undefined && codePointCount(value) < minLength) throw wrong(`must have at least ${minLength} characters`);
    if (maxLength !== undefined && codePointCount(value) > maxLength) throw wrong(`must have at most ${maxLength} characters`);
    if (expression !== undefined && !expression.test(value)) throw wrong(`must match ${pattern}`);
    return value;
  };
}

function number({ type, minimum, maximum }: SchemaNode): ReadEntry {
  return (value) => {
    if (typeof value !== "number" || !Number.isFinite(value)) throw wrong(`must be ${type === "integer" ? "an integer" : "a number"}`);
    if (type === "integer" && !Number.isSafeInteger(value)) throw wrong("must be an integer");
    if (minimum !== undefined && value < minimum) throw wrong(`must be at least ${minimum}`);
    if (maximum !== undefined && value > maximum) throw wrong(`must be at most ${maximum}`);
    return value;
  };
}

function array({ items = {}, minItems, maxItems }: SchemaNode): ReadEntry {
  const read = readerOf(items);
  return (value) => {
    if (!Array.isArray(value)) throw wrong("must be a list");
    if (minItems !== undefined && value.length < minItems) throw wrong(`must hold at least ${minItems} items`);
    if (maxItems !== undefined && value.length > maxItems) throw wrong(`must hold at most ${maxItems} items`);
    return value.map((item, index) => {
      try {
        return read(item);
      } catch (error) {
        return under(error, index);
      }
    });
  };
}

/** Keys that the schema does not name are errors, or are read by `additionalProperties` or the one pattern of a record. */
function object({ properties = {}, required = [], additionalProperties = true, patternProperties }: SchemaNode): ReadEntry {
  const fields = Object.entries(properties).map(([name, words]) => ({
    name,
    isRequired: required.includes(name),
    read: readerOf(words),
    takesNull: words.type === "null" || words.anyOf?.some(({ type }) => type === "null") === true,
    fallback: words.default,
  }));
  const rest = patternProperties === undefined ? additionalProperties : Object.values(patternProperties)[0];
  const readRest = typeof rest === "object" ? readerOf(rest) : anything;
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong("must be a map");
    const given = value as Record<string, unknown>;
    const result: Record<string, unknown> = {};
    let known = 0;
    let missing: string | undefined;
    for (const { name, isRequired, read, takesNull, fallback } of fields) {
      const own = Object.hasOwn(given, name) ? given[name] : undefined;
      if (own !== undefined) known++;
      if (own === undefined || (own === null && !takesNull)) {
        if (fallback !== undefined) result[name] = structuredClone(fallback);
        else if (isRequired) missing ??= name;
        continue;
      }
      try {
        result[name] = read(own);
      } catch (error) {
        under(error, name);
      }
    }
    for (const key of Object.keys(given).length === known ? [] : Object.keys(given)) {
      if (Object.hasOwn(properties, key)) continue;
      if (rest === false) under(wrong(`is not known here${suggestion(key, Object.keys(properties))}`), key);
      try {
        Object.defineProperty(result, storable(key), { value: readRest(given[key]), enumerable: true, configurable: true, writable: true });
      } catch (error) {
        under(error, key);
      }
    }
    // Told last: a key that is missing is often there, misspelt.
    return missing === undefined ? result : under(wrong("is required"), missing);
  };
}

/** As deep as JSON from a caller may be; YAML can even hold a list that holds itself. */
const DEPTH_MAX = 32;

/** A value of any shape, but for text that no store may hold. */
const anything: ReadEntry = (value) => anythingAt(value, 1);

function anythingAt(value: unknown, depth: number): unknown {
  if (typeof value === "string") return storable(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEPTH_MAX) throw wrong(`nests deeper than ${DEPTH_MAX} levels`);
  for (const [key, inner] of Object.entries(value)) {
    try {
      storable(key);
      anythingAt(inner, depth + 1);
    } catch (error) {
      under(error, Array.isArray(value) ? Number(key) : key);
    }
  }
  return value;
}

/** The known word that begins alike, for typing mistakes. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = known.find((other) => other.startsWith(word.slice(0, 3)) && Math.abs(other.length - word.length) <= 2);
  return near === undefined ? "" : `; did you mean ${near}?`;
}
