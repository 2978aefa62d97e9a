/**
 * Writes `clients/typescript/src/generated/operations.ts` from the contracts: the types of every operation, and a table with a row for each
 * operation. The types are written for the response profile `strict`; the profile `clients` returns the same fields and more.
 */
import type { TObject } from "typebox";
import { edgeOf, methodOf, pascal, typeOf } from "#graph/contract/openapi/addresses";
import { responseName } from "#graph/contract/openapi/responses";
import { type Document, NamedSchemas } from "#graph/contract/openapi/schemas";
import type { Endpoint, Registry } from "#graph/contract/registry";
import { responseSchema } from "#graph/contract/response-schemas";
import { publicSchema, requestSchema } from "#graph/schema/public-schema";
import type { ServedIn } from "#graph/schema/schema-node";
import type { VersionCalendar } from "#graph/versions/calendar";
import { fixedVersions, newestVersion } from "#graph/versions/resolve";
import { withoutCitations } from "#kernel/text";
import { formatVersion } from "#kernel/versions";
import { surfaces } from "#surfaces/surfaces";
import { docText, typeText } from "./typescript-text.ts";

const HEADER = "/** Written by `tools/build.mjs` from the contracts; changes by hand are lost. */\n";

const FIELDS = "readonly fields?: string;";
const PAGING = "readonly limit?: number; readonly before?: string; readonly after?: string;";

/** Returns the text of the file. `now`, in Unix seconds, decides which marketing version is current. */
export function clientOperations(registry: Registry, calendar: VersionCalendar, now: number): string {
  const schemas = new NamedSchemas();
  const asked = registry.servedIn({ profile: "strict", calendar }, now);
  // The client uses the profile `strict`, so operations that only the profile `clients` has are left out.
  const endpoints = registry.endpoints.filter(({ access }) => access.surfaces.length > 0);
  const operations = endpoints.map((endpoint) => operationOf(endpoint, schemas, asked)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const types = Object.entries(schemas.all()).map(([name, schema]) => `export type ${name} = ${typeText(schema as Document)};`);
  const codes = [...new Set([...registry.errors.values()].flatMap(({ code, flatCode }) => [code, flatCode ?? code]))].sort((a, b) => a - b);
  return [
    HEADER,
    `/** The codes of the interface's errors. */\nexport type ErrorCode = ${codes.join(" | ")};`,
    `export type Surface = ${surfaces.map(({ name }) => JSON.stringify(name)).join(" | ")};`,
    "/** Where the surfaces are below the address of the main host. */",
    `export const mounts: Readonly<Record<Surface, string>> = ${JSON.stringify(Object.fromEntries(surfaces.map(({ name, mount }) => [name, mount])))};`,
    "/** Surfaces whose address or headers have the version. */",
    `export const withoutVersion: ReadonlySet<string> = new Set(${JSON.stringify(surfaces.filter(({ name }) => fixedVersions[name] !== undefined).map(({ name }) => name))});`,
    "/** The versions that are asked for unless the caller names others. */",
    `export const versions = ${JSON.stringify(versionsOf(calendar, now))} as const;`,
    "/** Method, address, surfaces, list of versions, places of the token, what is returned, headers. */",
    `export const operations = {\n${operations.map(({ name, row }) => `  ${name}: ${JSON.stringify(row)},`).join("\n")}\n} as const;`,
    `export interface Operations {\n${operations.map(({ type }) => type).join("\n")}\n}`,
    ...types,
    "",
  ].join("\n");
}

function versionsOf(calendar: VersionCalendar, now: number) {
  const marketing = calendar.marketing.filter(({ released, until }) => released <= now && (until === undefined || until > now));
  return {
    platform: formatVersion(newestVersion(calendar, now)),
    migrationIntents: formatVersion(calendar.migrationIntents.at(-1) ?? 0),
    marketing: formatVersion(marketing.at(-1)?.version ?? 0),
  };
}

function operationOf(endpoint: Endpoint, schemas: NamedSchemas, asked: ServedIn): { name: string; row: string; type: string } {
  const { access, served, nodeType } = endpoint;
  const name = access.operation;
  const contract = served?.contract;
  const edge = edgeOf(endpoint);
  const path = `${nodeType === undefined ? "" : "/{id}"}${edge === undefined ? "" : `/${edge}`}`;
  const kind = contract?.kind !== "list" ? "one" : contract.cursorsOnly === true ? "cursors" : "pages";
  const { fixed, needed } = headersOf(endpoint);
  const row = [methodOf(endpoint), path, access.surfaces.join(","), access.versions, access.scheme, kind, ...fixed].join(" ");
  const doc = docText(withoutCitations(contract?.summary ?? `Reads a node of the type ${nodeType}.`));
  const members = [
    `id: ${nodeType === undefined ? "undefined" : "string"};`,
    `params: ${paramsText(endpoint, schemas, asked)};`,
    `headers: ${needed};`,
    `surface: ${access.surfaces.map((surface) => JSON.stringify(surface)).join(" | ")};`,
    `kind: ${JSON.stringify(kind)};`,
    `returns: ${typeText(returnsOf(endpoint, schemas))};`,
  ];
  return { name, row, type: `  ${doc}${name}: { ${members.join(" ")} };` };
}

/**
 * Returns the headers of an operation. The client always sends a header that has only one possible value; for any other header, the caller gives the
 * value.
 */
function headersOf({ access }: Endpoint): { fixed: string[]; needed: string } {
  const required = Object.entries(access.requestHeaders ?? {}).filter(([, { isRequired }]) => isRequired === true);
  const constantOf = (schema: Document): unknown => schema.const ?? (schema.enum as readonly unknown[] | undefined)?.[0];
  const fixed = required.filter(([, { schema }]) => constantOf(publicSchema(schema)) !== undefined);
  const open = required.filter((one) => !fixed.includes(one));
  return {
    fixed: fixed.map(([header, { schema }]) => `${header}:${constantOf(publicSchema(schema))}`),
    needed:
      open.length === 0
        ? "undefined"
        : `{ ${open.map(([header, { description }]) => `${docText(description)}${JSON.stringify(header)}: string;`).join(" ")} }`,
  };
}

function paramsText({ served, reading }: Endpoint, schemas: NamedSchemas, asked: ServedIn): string {
  const contract = served?.contract;
  const takesFields = reading !== undefined || contract?.kind === "list" || (contract?.kind === "write" && contract.readBack !== undefined);
  const own =
    contract === undefined ? "" : typeText(ownOf(contract.params, schemas, asked)).replace(/^Readonly<Record<string, unknown>>$|^\{ | \}$/g, "");
  const parts = [own, takesFields ? FIELDS : "", contract?.kind === "list" ? PAGING : ""].filter((part) => part !== "");
  return parts.length === 0 ? "Readonly<Record<string, never>>" : `{ ${parts.join(" ")} }`;
}

/**
 * Returns the type of an operation's own parameters. The type does not express conditions between parameters, because TypeScript cannot express
 * them.
 */
function ownOf(params: TObject, schemas: NamedSchemas, asked: ServedIn): Document {
  const { type, properties, required } = schemas.referred(requestSchema(params, asked));
  return { type, properties, required };
}

/** Returns the type of an operation's response, under the name that the OpenAPI document gives it. */
function returnsOf(endpoint: Endpoint, schemas: NamedSchemas): Document {
  const schema = publicSchema(responseSchema(endpoint, "strict"));
  const name = pascal(endpoint.access.operation);
  if (endpoint.reading !== undefined) return schemas.add(pascal(typeOf(endpoint)), schema);
  if (endpoint.served?.contract.kind === "list") {
    const { data } = (schema as { properties: { data: { items: Document } } }).properties;
    schemas.add(`${name}Item`, data.items);
  }
  return schemas.add(responseName(endpoint, schema), schema);
}
