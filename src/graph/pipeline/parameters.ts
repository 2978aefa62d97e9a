/**
 * Step 7: parameters against the contract. Values arrive as strings (query, form) or as JSON; each is read as its schema's
 * kind, or refused with an error that names it (D-21). Unknown keys are ignored (D-34).
 */
import type { TObject } from "typebox";
import { type GraphError, invalidParameter } from "#kernel/errors";
import { codePointCount, isStorableText } from "#kernel/text";
import { parseJsonParameter } from "../response/json.ts";
import { JsonNumber, type Parameters } from "./request.ts";

/** The JSON Schema words that contracts use; anything else in a contract keeps the server from starting. */
interface SchemaNode {
  type?: "string" | "integer" | "number" | "boolean" | "object" | "array";
  enum?: readonly unknown[];
  const?: unknown;
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
  /** A list may also be written `a,b` (D-50, F1). */
  commaSeparated?: boolean;
  /** What is not declared is kept, e.g. payloads that the document does not show (D-62). */
  additionalProperties?: boolean;
  /** The feature reads it itself, numbers that keep their digits included: large lists, or errors that name more than a parameter. */
  "x-plaza-raw"?: boolean;
}

type Read = (value: unknown, name: string) => unknown;

export type ReadParameters = (source: Parameters) => Record<string, unknown>;

/** Made once per operation. */
export function parametersReader(schema: TObject): ReadParameters {
  const words = schema as unknown as SchemaNode;
  const required = new Set(words.required ?? []);
  const entries = Object.entries(words.properties ?? {}).map(([name, inner]) => ({ name, isRequired: required.has(name), read: readerOf(inner) }));
  return (source) => {
    const params: Record<string, unknown> = {};
    for (const { name, isRequired, read } of entries) {
      const value = source[name];
      if (value === undefined || value === null) {
        if (isRequired) throw invalidParameter(name, "is required");
      } else params[name] = read(value, name);
    }
    return params;
  };
}

function readerOf(words: SchemaNode): Read {
  if (words.anyOf !== undefined || words.enum !== undefined || words.const !== undefined) return oneOf(words);
  switch (words.type) {
    case "string":
      return stringReader(words);
    case "integer":
      return integerReader(words);
    case "number":
      return decimalReader();
    case "boolean":
      return readBoolean;
    case "array":
      return arrayReader(words);
    case "object":
      return objectReader(words);
    default:
      if (words["x-plaza-raw"] === true) return (value) => value;
      // TypeBox's Unknown: the handler itself says what it takes.
      return (value, name) => storable(value, name);
  }
}

function textOf(value: unknown, name: string): string {
  const text = typeof value === "string" ? value : typeof value === "number" ? String(value) : value instanceof JsonNumber ? value.text : undefined;
  if (text === undefined) throw invalidParameter(name, "must be a string");
  if (!isStorableText(text)) throw invalidParameter(name, "contains U+0000 or a lone surrogate");
  return text;
}

function stringReader({ minLength, maxLength, pattern }: SchemaNode): Read {
  const expression = pattern === undefined ? undefined : new RegExp(pattern, "u");
  return (value, name) => {
    const text = textOf(value, name);
    if (minLength !== undefined && codePointCount(text) < minLength) {
      throw invalidParameter(name, minLength === 1 ? "must not be empty" : `must have at least ${minLength} characters`);
    }
    if (maxLength !== undefined && codePointCount(text) > maxLength) throw invalidParameter(name, `must have at most ${maxLength} characters`);
    if (expression !== undefined && !expression.test(text)) throw invalidParameter(name, "has an invalid format");
    return text;
  };
}

function integerReader({ minimum, maximum }: SchemaNode): Read {
  return (value, name) => {
    const isText = typeof value === "string" && value.length <= 16 && /^-?\d+$/.test(value);
    const number = typeof value === "number" ? value : isText ? Number(value) : Number.NaN;
    if (!Number.isSafeInteger(number)) throw invalidParameter(name, "must be an integer");
    if (minimum !== undefined && number < minimum) throw invalidParameter(name, `must be at least ${minimum}`);
    if (maximum !== undefined && number > maximum) throw invalidParameter(name, `must be at most ${maximum}`);
    return number;
  };
}

/** Decimals stay text, so that no digit passes through a binary float (D-70); the handler sets their bounds. */
function decimalReader(): Read {
  return (value, name) => {
    const text = typeof value === "boolean" ? "" : textOf(value, name);
    if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) throw invalidParameter(name, "must be a number");
    return text;
  };
}

const readBoolean: Read = (value, name) => {
  if (value === true || value === 1 || value === "true" || value === "1" || value === "TRUE") return true;
  if (value === false || value === 0 || value === "false" || value === "0" || value === "FALSE") return false;
  throw invalidParameter(name, "must be true or false");
};

function arrayReader(words: SchemaNode): Read {
  const readItem = readerOf(words.items ?? {});
  return (value, name) => {
    const list = listOf(value, name, words.commaSeparated === true);
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = words;
    if (list.length < minItems) throw invalidParameter(name, minItems === 1 ? "must not be empty" : `must hold at least ${minItems} items`);
    if (list.length > maxItems) throw invalidParameter(name, `must hold at most ${maxItems} items`);
    // What was written `a,b` has no places that a caller could know.
    const isText = typeof value === "string" && !value.trimStart().startsWith("[");
    return list.map((item, index) => readItem(item, isText ? name : `${name}[${index}]`));
  };
}

function listOf(value: unknown, name: string, isCommaSeparated: boolean): readonly unknown[] {
  if (Array.isArray(value)) return isCommaSeparated ? value.flatMap((item) => (typeof item === "string" ? item.split(",") : [item])) : value;
  if (typeof value === "string") {
    if (value.trimStart().startsWith("[")) {
      const parsed = parseJsonParameter(value, name);
      if (Array.isArray(parsed)) return parsed;
    } else if (isCommaSeparated) return value === "" ? [] : value.split(",").map((item) => item.trim());
  }
  throw invalidParameter(name, "must be a list");
}

function objectReader(words: SchemaNode): Read {
  const required = words.required ?? [];
  const entries = Object.entries(words.properties ?? {}).map(([name, inner]) => ({ name, read: readerOf(inner) }));
  return (value, name) => {
    const source = typeof value === "string" && value.trimStart().startsWith("{") ? parseJsonParameter(value, name) : value;
    if (typeof source !== "object" || source === null || Array.isArray(source) || source instanceof JsonNumber)
      throw invalidParameter(name, "must be an object");
    const given = source as Record<string, unknown>;
    const result: Record<string, unknown> = words.additionalProperties === true ? (storable(given, name) as Record<string, unknown>) : {};
    for (const { name: key, read } of entries) {
      const inner = given[key];
      if (inner !== undefined && inner !== null) result[key] = read(inner, `${name}.${key}`);
      else if (required.includes(key)) throw invalidParameter(`${name}.${key}`, "is required");
    }
    return result;
  };
}

/** A closed set of strings or integers, or several readings of which the first that fits is taken. */
function oneOf(words: SchemaNode): Read {
  const constants = words.const !== undefined ? [words.const] : (words.enum ?? words.anyOf?.map((option) => option.const));
  if (constants?.every((option) => typeof option === "string" || typeof option === "number") === true) {
    const byText = new Map(constants.map((option) => [String(option), option]));
    return (value, name) => {
      const found = typeof value === "string" || typeof value === "number" ? byText.get(String(value)) : undefined;
      if (found === undefined) throw invalidParameter(name, `must be one of ${[...byText.keys()].join(", ")}`);
      return found;
    };
  }
  const ports = (words.anyOf ?? []).map(readerOf);
  return (value, name) => {
    let problem: unknown;
    for (const read of ports) {
      try {
        return read(value, name);
      } catch (error) {
        problem ??= error;
      }
    }
    throw problem as GraphError;
  };
}

/** A value of any shape, kept as it is but for text that no store may hold. Numbers that keep their digits become text. */
function storable(value: unknown, name: string): unknown {
  if (typeof value === "string") return textOf(value, name);
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return value.map((item, index) => storable(item, `${name}[${index}]`));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (!isStorableText(key)) throw invalidParameter(name, "has a key with U+0000 or a lone surrogate");
      return [key, storable(inner, `${name}.${key}`)];
    }),
  );
}
