/** `clients/testing/generated/control-api.ts`: what the control API takes and returns, as types of the test kit. */
import { controlRoutes } from "#control/routes";
import type { ControlRoute } from "#control-contract/route";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { ownSchemas } from "#graph/worlds/settings";
import { tokenEntry } from "#graph/worlds/tokens";
import { buildRegistry } from "#main";
import { webhookObjects } from "#webhooks/catalogue/field";
import { propertiesOf, type Schema } from "./schema-text.ts";

/** What a caller sends may leave out what has a default; ids and times are read in several forms, and returned in one. */
type Direction = "sent" | "returned";

export function controlTypes(): string {
  const registry = buildRegistry();
  const sections = sectionsOf(registry).map(({ key, entry }) => ({ key, entry: entry as Schema }));
  const own = Object.entries(ownSchemas).map(([key, schema]) => `  ${key}?: ${typeText(schema as Schema, "sent", 1)};`);
  const entries = (direction: Direction) => sections.map(({ key, entry }) => `  ${key}: ${typeText(entry, direction, 1)};`);
  const fields = webhookObjects.map((object) => `  ${object}: ${JSON.stringify(registry.webhookFields.namesOf(object))},`);
  return `${[
    "/** Written by `tools/build.mjs` from the routes of the control API; changes by hand are lost. */",
    `/** Entries of a world file, by their key. */\nexport interface Entries {\n${entries("sent").join("\n")}\n}`,
    `/** Nodes as the control API returns them, by the key of a world file. */\nexport interface Nodes {\n${entries("returned").join("\n")}\n}`,
    `export type TokenEntry = ${typeText(tokenEntry as Schema, "sent", 0)};`,
    `/** Every key may be left out. */\nexport type WorldFile = { [Key in keyof Entries]?: readonly Entries[Key][] } & {\n${own.join("\n")}\n  tokens?: readonly TokenEntry[];\n};`,
    `/** What a request of the control API takes and returns, by its operation. */\nexport interface Operations {\n${controlRoutes(registry).flatMap(operation).join("\n")}\n}`,
    `/** The webhook fields of each object. */\nexport const webhookFields = {\n${fields.join("\n")}\n} as const;`,
  ].join("\n\n")}\n`;
}

/** Of nodes and files nothing is left: their types depend on the key of the node. */
function operation({ operation: name, summary, query, body, response }: ControlRoute): string[] {
  const parts = [
    ...(query === undefined ? [] : [`query: ${typeText(query as Schema, "sent", 2)}`]),
    ...(body === undefined || typeof body === "string" ? [] : [`body: ${typeText(body as Schema, "sent", 2)}`]),
    ...(typeof response === "string" ? [] : [`response: ${typeText(response as Schema, "returned", 2)}`]),
  ];
  return parts.length === 0 ? [] : [`  /** ${summary}. */\n  ${name}: {\n${parts.map((part) => `    ${part};\n`).join("")}  };`];
}

function typeText(schema: Schema, direction: Direction, depth: number): string {
  const readAs = schema["x-plaza-read-as"];
  if (readAs === "id") return "string";
  if (readAs === "time") return direction === "sent" ? "number | string" : "number";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map((one) => typeText(one, direction, depth)))].join(" | ");
  if (schema.type === "array") return `readonly (${typeText(schema.items ?? {}, direction, depth)})[]`;
  if (schema.type === "object") return objectText(schema, direction, depth);
  if (schema.type === undefined) return "unknown";
  return schema.type === "integer" ? "number" : schema.type;
}

function objectText(schema: Schema, direction: Direction, depth: number): string {
  const [values] = Object.values(schema.patternProperties ?? {});
  if (values !== undefined) return `{ readonly [name: string]: ${typeText(values, direction, depth)} }`;
  const properties = propertiesOf(schema);
  if (properties.length === 0) return "{ readonly [name: string]: unknown }";
  const indent = "  ".repeat(depth + 1);
  const lines = properties.map(({ name, schema: inner, isRequired }) => {
    // What is left out of a request for its default is there in what is returned.
    const isThere = isRequired || (direction === "returned" && schema.required?.includes(name) === true);
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    const comment = inner.description === undefined ? "" : `${indent}/** ${inner.description} */\n`;
    return `${comment}${indent}readonly ${key}${isThere ? "" : "?"}: ${typeText(inner, direction, depth + 1)};`;
  });
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}
