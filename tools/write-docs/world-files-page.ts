import { propertiesOf, type Schema, schemaText } from "#control/llms/schema-text";
import type { Feature } from "#graph/contract/feature";
import { ownSchemas } from "#graph/worlds/settings";
import { tokenEntry } from "#graph/worlds/tokens";
import { code, page, table } from "./markdown.ts";

export function worldFilesPage(features: readonly Feature[]): string {
  const sections = features.flatMap(({ name, worldSections: held }) => (held ?? []).map(({ key, entry }) => ({ name, key, entry: entry as Schema })));
  return page("World files", "the features' `x.world.ts`", [
    "A world file has these keys, each with a list of entries. [Worlds and world files](../operating/worlds.md#world-file) explains how Plaza loads a file, " +
      "and how an editor checks one. The schema for editors is `world.schema.json` beside this page; `bin/plaza schema world` prints it.",
    ...sections.map(({ name, key, entry }) => `## ${key}\n\n${eachIs(entry)} Defined by the feature \`${name}\`.\n\n${entryTable(entry)}`),
    `## tokens\n\n${eachIs(tokenEntry as Schema)}\n\n${entryTable(tokenEntry as Schema)}`,
    "## The world itself",
    table(
      ["key", "value", "meaning"],
      Object.entries(ownSchemas)
        .flatMap(([key, schema]) => keysBelow(key, schema as Schema).slice(0, key === "versions" ? 1 : undefined))
        .map(({ path, schema }) => [code(path), schemaText(schema), schema.description ?? ""]),
    ),
    ...Object.entries(ownSchemas.versions.properties).map(([list, schema]) => calendarList(list, schema as Schema)),
  ]);
}

/** Writes the table of one list of the version calendar, with the meaning of each key. */
function calendarList(list: string, { description = "", items = {} }: Schema): string {
  const rows = propertiesOf(items).map(({ name, schema, isRequired }) => [
    code(name),
    schemaText(schema),
    isRequired && schema.default === undefined ? "yes" : "",
    schema.description ?? "",
  ]);
  const form =
    rows.length === 0 ? `A list of ${schemaText(items)}, ${items.description ?? ""}.` : table(["key", "value", "required", "meaning"], rows);
  return `### versions.${list}\n\n${description[0]?.toUpperCase()}${description.slice(1)}.\n\n${form}`;
}

const eachIs = ({ description }: Schema): string => `Each entry is ${description}.`;

function entryTable(entry: Schema): string {
  const rows = keysOf(entry).map(({ path, schema, isRequired }) => [
    code(path),
    schemaText(schema),
    isRequired ? "yes" : "",
    schema.default === undefined ? "" : code(JSON.stringify(schema.default)),
    schema.description ?? "",
  ]);
  return table(["key", "value", "required", "default", "meaning"], rows);
}

interface Key {
  /** The path of the key in its entry: the key `user` in the list `roles` has the path `roles[].user`. */
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Lists the keys of an entry. If the value of a key is an object, the object's keys follow after the key. */
const keysOf = (entry: Schema, before = ""): Key[] =>
  propertiesOf(entry).flatMap(({ name, schema, isRequired }) => keysBelow(before + name, schema, isRequired));

function keysBelow(path: string, schema: Schema, isRequired = false): Key[] {
  const object = [schema, schema.items, ...(schema.anyOf ?? [])].find((one) => one?.properties !== undefined);
  const below = object === undefined ? [] : keysOf(object, `${path}${object === schema.items ? "[]" : ""}.`);
  return [{ path, schema, isRequired }, ...below];
}
