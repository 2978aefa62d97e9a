/** Makes sample values for examples from a JSON Schema. Each call with the same schema makes the same sample value. */
import type { Schema } from "./schema-text.ts";

interface Sampled extends Schema {
  readonly format?: string;
  readonly minItems?: number;
  readonly anyOf?: readonly Sampled[];
  readonly items?: Sampled;
  readonly properties?: Readonly<Record<string, Sampled>>;
  readonly examples?: readonly unknown[];
  readonly "x-plaza-shape-of"?: string;
}

/** The sample value of each format by the format's name in `graph/schema/formats.ts`. */
const OF_FORMATS: Readonly<Record<string, string>> = {
  "web-address": "https://example.com/picture.png",
  callback: "https://example.com/hook",
  uri: "https://example.com/",
  id: "1234567890",
  country: "DE",
  "time-zone": "Europe/Berlin",
  date: "2026-11-26",
};
const DEPTH_MAX = 4;

export function sampleOf(schema: Sampled, depth = 0, name = ""): unknown {
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema["x-plaza-read-as"] === "time") return 1_795_000_000;
  if (schema["x-plaza-read-as"] !== undefined) return OF_FORMATS.id;
  if (schema.default !== undefined) return schema.default;
  if (schema.anyOf?.[0] !== undefined) return sampleOf(schema.anyOf[0], depth);
  switch (schema.type) {
    case "string":
      if (name === "id") return OF_FORMATS.id;
      return OF_FORMATS[schema.format ?? ""] ?? "text".padEnd(schema.minLength ?? 0, "t");
    case "integer":
    case "number":
      return Math.max(schema.minimum ?? 1, Math.min(1, schema.maximum ?? 1));
    case "boolean":
      return true;
    case "array":
      return depth >= DEPTH_MAX ? [] : Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () => sampleOf(schema.items ?? {}, depth + 1));
    case "object":
      return depth >= DEPTH_MAX ? {} : sampleObject(schema, schema.required ?? [], depth);
    default:
      return "text";
  }
}

/** Makes a sample of an object with the given keys. */
export const sampleObject = ({ properties = {} }: Sampled, names: readonly string[], depth = 0): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (properties[name] === undefined ? [] : [[name, sampleOf(properties[name], depth + 1, name)]])));
