/** What a request of the control API brings, by media type. */
import type { ControlRoute } from "#control-contract/route";
import type { WorldSection } from "#graph/contract/feature";
import { type PlainSchema, sentSchema } from "#graph/schema/public-schema";
import { entryName, schemaRef } from "./names.ts";

type Content = Readonly<Record<string, { readonly schema: PlainSchema }>>;

const json = (schema: PlainSchema): Content => ({ "application/json": { schema } });

/** A file of nothing but comments is null in YAML. */
const worldFile: PlainSchema = { anyOf: [schemaRef("world_file"), { type: "null" }] };

/** Undefined where a request has none. */
export function bodyOf({ body, content = {}, method }: ControlRoute, section: WorldSection | undefined): Content | undefined {
  if (body === undefined) return undefined;
  if (body === "text") return { "application/yaml": { schema: worldFile }, ...json(worldFile) };
  if (body === "file" || body === "form")
    return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema: sentSchema(schema) }]));
  if (body !== "entry") return json(sentSchema(body));
  const { key, entry, identity } = section as WorldSection;
  if (method === "PATCH") return json(withoutNeeds(sentSchema(entry), () => true));
  // An id is minted where none is given.
  return json(identity === undefined ? withoutNeeds(sentSchema(entry), (name) => name === "id") : schemaRef(entryName(key)));
}

/** Some of the keys that it needs may be left out. */
function withoutNeeds({ required = [], ...schema }: PlainSchema, isFree: (name: string) => boolean): PlainSchema {
  const needed = (required as string[]).filter((name) => !isFree(name));
  return needed.length === 0 ? schema : { ...schema, required: needed };
}
