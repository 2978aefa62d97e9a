import { READ_AS } from "./schema-node.ts";

/** The schema without the keywords that only the program reads. */
export function publicSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(publicSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => keyword !== READ_AS)
      .map(([keyword, inner]) => [keyword, publicSchema(inner)]),
  );
}
