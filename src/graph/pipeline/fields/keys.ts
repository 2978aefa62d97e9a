/** Selecting inside a value that is an object without fields of its own, by its schema (D-38): `place{location{latitude}}`. */
import type { TSchema } from "typebox";
import { invalidParameter } from "#kernel/errors";
import { named, type Selection } from "#kernel/selection";
import type { SchemaNode } from "../../schema/schema-node.ts";

/** What is kept of an object; undefined: all of the key's value. */
export type Keys = ReadonlyMap<string, Keys | undefined>;

/** Undefined: all of it. Throws `invalidParameter` naming `fields` for a name that the schema does not have. */
export function keysOf(name: string, schema: TSchema, selection: Selection): Keys | undefined {
  return keysOfNode(name, schema as SchemaNode, selection);
}

function keysOfNode(holder: string, node: SchemaNode, selection: Selection): Keys | undefined {
  const properties = propertiesOf(node);
  if (properties === undefined) throw invalidParameter("fields", `selects inside ${holder}, which has no fields of its own`, { field: holder });
  const keys = new Map<string, Keys | undefined>();
  const { names, isAlsoWhole } = named(selection);
  for (const [name, inner] of names) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) throw invalidParameter("fields", `names a field that does not exist: ${name}`, { field: name });
    keys.set(name, inner === undefined ? undefined : keysOfNode(name, property, inner));
  }
  // D-33: whatever has an id says it.
  if (Object.hasOwn(properties, "id") && !keys.has("id")) keys.set("id", undefined);
  return isAlsoWhole ? undefined : keys;
}

/** Of an object, or of the objects of a list. */
const propertiesOf = (node: SchemaNode): SchemaNode["properties"] =>
  node.properties ?? (node.items === undefined ? undefined : propertiesOf(node.items));

/** Of a list: of each of its elements. What the object does not have stays out. */
export function valueWithin(value: unknown, keys: Keys): unknown {
  if (Array.isArray(value)) return value.map((element) => valueWithin(element, keys));
  if (typeof value !== "object" || value === null) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, inner] of keys) {
    const found = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (found !== undefined) kept[name] = inner === undefined ? found : valueWithin(found, inner);
  }
  return kept;
}
