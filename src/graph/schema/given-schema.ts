/**
 * Checks values by JSON Schemas that callers write. A caller's schema may have only keywords that this server can check, and its size, depth and
 * patterns are limited. A caller's schema must not have references, so the server never loads a schema from another address.
 */
import type { TSchema } from "typebox";
import { suggestion } from "#kernel/suggestion";
import { codePointCount } from "#kernel/text";
import { patternProblem } from "./linear-pattern.ts";
import { readerOf } from "./reader.ts";
import { type Dialect, ValueProblem } from "./scalars.ts";
import { everywhere, PROBLEM, type SchemaNode } from "./schema-node.ts";

/** The greatest depth of a caller's schema. A schema that a person writes by hand is never as deep as this limit. */
const DEPTH_MAX = 8;
/** The greatest number of schemas inside a caller's schema, because each value is checked against all of them. */
const NODES_MAX = 200;
/** The greatest length of a text that is checked against a caller's pattern. */
const PATTERN_TEXT_MAX = 100;

/** The keywords that a caller's schema may have for each type, in addition to keywords that only describe a value. */
const ofTypes: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern"],
  integer: ["minimum", "maximum"],
  number: ["minimum", "maximum"],
  boolean: [],
  null: [],
  array: ["items", "minItems", "maxItems"],
  object: ["properties", "required", "additionalProperties"],
};
const DESCRIBING = ["title", "description", "examples", "$schema", "$comment"];
const COUNTS = ["minLength", "maxLength", "minItems", "maxItems"];
const BOUNDS = ["minimum", "maximum"];

/** Checks a value. Returns the path and the problem if the value does not match the schema, and otherwise undefined. */
export type SchemaCheck = (value: unknown) => string | undefined;

/** Makes the check for a schema that a caller wrote. If the schema is wrong or too large, throws `ValueProblem` with the path inside the schema. */
export function givenSchema(schema: unknown): SchemaCheck {
  const read = readerOf(new Given().nodeOf(schema, "", 1) as TSchema, dialect);
  return (value) => {
    try {
      read(value, everywhere);
      return undefined;
    } catch (error) {
      if (error instanceof ValueProblem) return error.message;
      throw error;
    }
  };
}

const dialect: Dialect = {
  readings: {},
  undeclaredKeys: "kept",
  missingKeys: "last",
  messages: {
    notText: () => "must be a text",
    notObject: "must be an object",
    noMatch: (pattern) => `must match ${pattern}`,
    noneOf: (allowed) => `must be ${allowed.length === 1 ? "" : "one of "}${allowed.map((one) => JSON.stringify(one)).join(", ")}`,
  },
};

type Keys = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Keys => typeof value === "object" && value !== null && !Array.isArray(value);
const isScalar = (value: unknown): boolean => value === null || ["string", "number", "boolean"].includes(typeof value);
const inside = (place: string, step: string): string => (place === "" ? step : `${place}.${step}`);

function refuse(place: string, problem: string): never {
  throw new ValueProblem(problem, place);
}

/** Reads one schema with all schemas inside it, and counts their number. */
class Given {
  #nodes = 0;

  nodeOf(given: unknown, place: string, depth: number): SchemaNode {
    if (!isMap(given)) return refuse(place, "must be a JSON Schema, an object");
    if (depth > DEPTH_MAX) return refuse(place, `is too deep: a schema has ${DEPTH_MAX} levels at most`);
    if (++this.#nodes > NODES_MAX) return refuse(place, `is too large: a schema holds ${NODES_MAX} schemas at most`);
    const { type } = given;
    if (Array.isArray(type)) {
      requireWords(given, ["type", ...type.flatMap((one) => ofTypes[String(one)] ?? [])], place);
      const isAlone = Object.keys(given).every((word) => word === "type" || DESCRIBING.includes(word));
      // If a value matches no alternative, one message names all types, because the problem of a single alternative would be misleading.
      const problem = isAlone ? { [PROBLEM]: `must be ${type.join(" or ")}` } : {};
      return { anyOf: type.map((one) => this.#typed(String(one), given, place, depth)), ...problem };
    }
    if (given.enum !== undefined || given.const !== undefined) return this.#constants(given, place);
    if (given.anyOf !== undefined) {
      requireWords(given, ["anyOf"], place);
      if (!Array.isArray(given.anyOf) || given.anyOf.length === 0) return refuse(inside(place, "anyOf"), "must be a list of schemas");
      return { anyOf: given.anyOf.map((one, at) => this.nodeOf(one, `${inside(place, "anyOf")}[${at}]`, depth + 1)) };
    }
    if (type !== undefined) {
      requireWords(given, ["type", ...(ofTypes[String(type)] ?? [])], place);
      return this.#typed(String(type), given, place, depth);
    }
    requireWords(given, ["type"], place);
    return {};
  }

  #constants(given: Keys, place: string): SchemaNode {
    requireWords(given, ["type", "enum", "const"], place);
    const values = given.enum ?? [given.const];
    if (!Array.isArray(values) || values.length === 0 || !values.every(isScalar))
      return refuse(inside(place, "enum"), "must be a list of texts, numbers, true, false or null");
    return { enum: values };
  }

  #typed(type: string, given: Keys, place: string, depth: number): SchemaNode {
    const words = ofTypes[type];
    if (words === undefined) return refuse(inside(place, "type"), `must be one of ${Object.keys(ofTypes).join(", ")}`);
    const node: Record<string, unknown> = { type };
    for (const word of words) if (given[word] !== undefined) node[word] = given[word];
    for (const word of COUNTS)
      if (node[word] !== undefined && !(Number.isSafeInteger(node[word]) && (node[word] as number) >= 0))
        refuse(inside(place, word), "must be an integer from 0");
    for (const word of BOUNDS) if (node[word] !== undefined && !Number.isFinite(node[word])) refuse(inside(place, word), "must be a number");
    if (type === "string") return textOf(node, place);
    if (type === "array" && node.items !== undefined) return { ...node, items: this.nodeOf(node.items, inside(place, "items"), depth + 1) };
    return type === "object" ? this.#objectOf(node, place, depth) : node;
  }

  #objectOf({ properties = {}, required = [], additionalProperties: others = true }: Keys, place: string, depth: number): SchemaNode {
    const at = inside(place, "properties");
    if (!isMap(properties)) return refuse(at, "must be an object with a schema for each key");
    if (!Array.isArray(required) || !required.every((name) => typeof name === "string"))
      return refuse(inside(place, "required"), "must be a list of keys");
    const declared = Object.entries(properties).map(([name, one]): [string, SchemaNode] => [name, this.nodeOf(one, inside(at, name), depth + 1)]);
    // The reader of an object checks only declared keys. Therefore a key that the schema requires but does not declare is declared here, with any
    // value allowed.
    const undeclared = required.filter((name) => !Object.hasOwn(properties, name)).map((name): [string, SchemaNode] => [name, {}]);
    return {
      ...{ type: "object", properties: Object.fromEntries([...declared, ...undeclared]), required },
      additionalProperties: typeof others === "boolean" ? others : this.nodeOf(others, inside(place, "additionalProperties"), depth + 1),
    };
  }
}

function textOf(node: Readonly<Record<string, unknown>>, place: string): SchemaNode {
  const { pattern, maxLength = PATTERN_TEXT_MAX } = node;
  if (pattern === undefined) return node;
  if (typeof pattern !== "string" || codePointCount(pattern) === 0) return refuse(inside(place, "pattern"), "must be a text");
  const problem = patternProblem(pattern);
  if (problem !== undefined) return refuse(inside(place, "pattern"), problem);
  return { ...node, maxLength: Math.min(maxLength as number, PATTERN_TEXT_MAX) };
}

function requireWords(given: Keys, known: readonly string[], place: string): void {
  for (const word of Object.keys(given)) {
    if (known.includes(word) || DESCRIBING.includes(word)) continue;
    const all = [...new Set(["enum", "const", "anyOf", ...known])];
    refuse(inside(place, word), `is not supported here${suggestion(word, all)}; the keywords are ${all.join(", ")}`);
  }
}
