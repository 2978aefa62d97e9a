/** What an editor checks a config file against, made from the options and what reads them. */
import type { Setting } from "#graph/contract/feature";
import { optionsWith } from "./options.ts";
import { optionsOfFile } from "./read-config.ts";

/** JSON Schema of draft 7, which editors know. */
export function configFileSchema(settings: readonly Setting[]): Record<string, unknown> {
  const options = optionsOfFile(optionsWith(settings));
  const schemas = options.map(({ name, read, default: otherwise, summary }) => {
    const shown = otherwise === undefined || typeof otherwise === "object" ? {} : { default: otherwise };
    return [name, { description: summary, ...read.schema, ...shown }] as const;
  });
  // A key may be written like its flag as well.
  const likeFlags = schemas.filter(([name]) => name.includes("_")).map(([name, schema]) => [`^${name.replaceAll("_", "-")}$`, schema]);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Configuration of Plaza (plaza.config.yaml)",
    type: "object",
    properties: Object.fromEntries(schemas),
    patternProperties: Object.fromEntries(likeFlags),
    additionalProperties: false,
  };
}
