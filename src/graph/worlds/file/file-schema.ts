/** Makes the JSON Schema with which an editor checks a world file, from the schemas with which an import checks it. */
import type { WorldSection } from "../../contract/feature.ts";
import { sentSchema } from "../../schema/public-schema.ts";
import { ownSchemas } from "../settings.ts";
import { tokenEntry } from "../tokens.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Makes a schema in draft 7 of JSON Schema, because editors support this draft. */
export function worldFileSchema(sections: readonly WorldSection[]): Schema {
  const own = Object.entries(ownSchemas).map(([key, schema]) => [key, sentSchema(schema)]);
  const entries = [...sections.map(({ key, entry }) => [key, entry] as const), ["tokens", tokenEntry] as const];
  // In YAML, a key without a value stands for an empty list, so null is allowed.
  const lists = entries.map(([key, entry]) => {
    const { description, ...items } = sentSchema(entry);
    return [key, { type: ["array", "null"], items, description: `each entry is ${description}` }];
  });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "World file of Plaza",
    type: "object",
    properties: { $schema: { type: "string", description: "in a JSON file: the address of this schema" }, ...Object.fromEntries([...own, ...lists]) },
    additionalProperties: false,
  };
}
