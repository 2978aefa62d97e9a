/** Makes an example of a new node from the schema of the request body that creates such a node. */
import { type Entry, kindNamedBy, type Schema } from "./kinds.ts";

/** The kinds of nodes that keys refer to, if the key has another name than the kind. */
const REFERRED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  media: { owner: "social_accounts" },
  microblog_media: { owner: "microblog_users" },
  live_comments: { from: "users" },
  live_reactions: { from: "users" },
  phone_numbers: { account: "chatapp_accounts" },
  solutions: { owner_app: "apps" },
  migration_intents: { waba: "chatapp_accounts", solution: "solutions" },
};

/** The key by which people know a node. An example has this key although the key is optional. */
const NAMES = ["name", "username", "title", "caption", "text"];

const ID_PATTERN = "^[1-9][0-9]{0,18}$";
const alternatives = (schema: Schema): readonly Schema[] => (schema.anyOf === undefined ? [schema] : schema.anyOf);
const isId = (schema: Schema): boolean => alternatives(schema).some(({ pattern }) => pattern === ID_PATTERN);

/** The kind of node whose id is the value of a key; undefined if the key's value is not an id. */
export function referredKind(kind: string, key: string, schema: Schema, kinds: readonly string[]): string | undefined {
  if (key === "id" || !isId(schema)) return undefined;
  return REFERRED[kind]?.[key] ?? kindNamedBy(key, kinds);
}

function exampleValue(key: string, schema: Schema): unknown {
  const [one = schema] = alternatives(schema);
  if (one.enum !== undefined) return one.enum[0];
  const [type] = [one.type].flat();
  switch (type) {
    case "integer":
    case "number":
      return one.default ?? one.minimum ?? 0;
    case "boolean":
      return one.default ?? false;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return key === "username" ? "example" : key.endsWith("url") ? "https://example.com/example" : `Example ${key}`;
  }
}

/** The keys of a request body: first the required keys, then the keys with names, then all other keys. */
export function keysOf({ properties = {}, required = [] }: Schema): readonly string[] {
  const rank = (key: string): number => (required.includes(key) ? 0 : NAMES.includes(key) ? 1 : key === "id" ? 3 : 2);
  return Object.keys(properties).sort((a, b) => rank(a) - rank(b));
}

/**
 * `ids` has the id of one node for each kind that has nodes. If the world has no node of a kind that the new node refers to, the example has
 * an empty id, and the server's error names the key.
 */
export function exampleOf(kind: string, schema: Schema, kinds: readonly string[], ids: Readonly<Record<string, string>>): Entry {
  const { properties = {}, required = [] } = schema;
  const name = NAMES.find((key) => properties[key] !== undefined && !required.includes(key));
  const keys = [...required, ...(name === undefined ? [] : [name])];
  return Object.fromEntries(
    keys.map((key) => {
      const own = properties[key] ?? {};
      const referred = referredKind(kind, key, own, kinds);
      return [key, referred === undefined ? exampleValue(key, own) : (ids[referred] ?? "")];
    }),
  );
}

/** A description of the values that a schema allows. */
export function wordsOf(schema: Schema, referred: string | undefined): string {
  if (referred !== undefined) return `the id of a node of the kind ${referred.replaceAll("_", " ")}`;
  const [one = schema] = alternatives(schema);
  if (one.enum !== undefined) return `one of ${one.enum.map(String).join(", ")}`;
  if (isId(schema)) return "an id";
  const type = [one.type].flat().find((name) => name !== "null") ?? "any value";
  const limits = [
    ...(one.minimum === undefined ? [] : [`from ${one.minimum}`]),
    ...(one.maximum === undefined ? [] : [`to ${one.maximum}`]),
    ...(one.maxLength === undefined ? [] : [`up to ${one.maxLength} characters`]),
  ].join(" ");
  const words = { string: "text", array: "list", object: "map", integer: "whole number", boolean: "true or false" }[type] ?? type;
  return limits === "" ? words : `${words}, ${limits}`;
}
