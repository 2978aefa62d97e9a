/** Writes JSON Schemas as TypeScript types. */
type Schema = Readonly<Record<string, unknown>>;

const REFERENCE = "#/components/schemas/";

/**
 * Returns the TypeScript type of a schema that `publicSchema` and `NamedSchemas` wrote. Throws for an unknown keyword, so that no part of a schema is
 * lost in its type.
 */
export function typeText(schema: Schema): string {
  if (typeof schema.$ref === "string") return schema.$ref.slice(REFERENCE.length);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (choices !== undefined) return [...new Set(choices.map(typeText))].join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeText({ ...schema, type })).join(" | ");
  switch (schema.type) {
    case "string":
      return schema.format === "binary" ? "Blob" : "string";
    case "boolean":
    case "null":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return `readonly (${typeText((schema.items ?? {}) as Schema)})[]`;
    case "object":
      return objectText(schema);
    case undefined:
      return "unknown";
    default:
      throw new Error(`no TypeScript type is known for ${JSON.stringify(schema)}`);
  }
}

function objectText({ properties, required = [], additionalProperties }: Schema): string {
  const entries = Object.entries((properties ?? {}) as Record<string, Schema>);
  const others = typeof additionalProperties === "object" ? (additionalProperties as Schema) : undefined;
  if (entries.length === 0) return others === undefined ? "Readonly<Record<string, unknown>>" : `Readonly<Record<string, ${typeText(others)}>>`;
  const named = entries.map(([name, schema]) => propertyText(name, schema, (required as readonly string[]).includes(name)));
  // Keys that the schema does not name get the type unknown, because TypeScript requires that the type of all other keys also includes the types of
  // the named keys.
  return `{ ${[...named, ...(others === undefined ? [] : ["readonly [name: string]: unknown;"])].join(" ")} }`;
}

function propertyText(name: string, schema: Schema, isRequired: boolean): string {
  const key = /^[a-zA-Z_]\w*$/.test(name) ? name : JSON.stringify(name);
  return `${docText(schema.description)}readonly ${key}${isRequired ? "" : "?"}: ${typeText(schema)};`;
}

export const docText = (text: unknown): string => (typeof text === "string" ? `/** ${text.replaceAll("*/", "*\\/")} */ ` : "");
