/**
 * Writes the generated files that are not in git: documents and JSON Schemas for programs, and types of the clients. `tools/build.mjs` runs this
 * module. The module writes the files that have changed, and prints the paths of all files as JSON.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { configFileSchema } from "#config/config-file";
import { llmsPages } from "#control/llms/pages";
import { openapiOf } from "#control/openapi/document";
import { controlRoutes } from "#control/routes";
import { features, settings } from "#features";
import { openapiDocument } from "#graph/contract/openapi/document";
import { Registry } from "#graph/contract/registry";
import type { SurfaceName } from "#graph/pipeline/request";
import { standardCalendar } from "#graph/versions/calendar";
import { newestVersion } from "#graph/versions/resolve";
import { worldFileSchema } from "#graph/worlds/file/file-schema";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { formatVersion } from "#kernel/versions";
import { surfaces } from "#surfaces/surfaces";
import { asyncapiDocument } from "#webhooks/catalogue/asyncapi";
import { ROOT } from "../steps.ts";
import { clientOperations } from "./client-operations.ts";
import { clientWebhooks, webhookFieldNames } from "./client-webhooks.ts";
import { controlTypes } from "./control-types.ts";

/**
 * The time for which the documents are written, in Unix seconds: the end of the standard calendar. The time decides which marketing versions the
 * documents contain.
 */
const DOCUMENTED_AT = Date.parse("2026-11-20T00:00:00Z") / 1000;

const registry = new Registry(features);

const CONTROL_TYPES = "clients/testing/generated/control-api.ts";

/** The function that makes each document, by the path of the document. */
export const documents: Readonly<Record<string, () => object>> = {
  "docs/reference/openapi.json": graphDocument,
  "docs/reference/control-openapi.json": () => openapiOf(controlRoutes(registry), sectionsOf(registry), "http://127.0.0.1:4001"),
  "docs/reference/asyncapi.json": () =>
    asyncapiDocument(registry.webhookFields, formatVersion(newestVersion(standardCalendar, 0)), DOCUMENTED_AT * 1000),
  "docs/reference/world.schema.json": () => worldFileSchema(sectionsOf(registry)),
  "docs/reference/config.schema.json": () => configFileSchema(settings),
};

const types: Readonly<Record<string, () => string | Promise<string>>> = {
  "clients/typescript/src/generated/operations.ts": () => clientOperations(registry, standardCalendar, DOCUMENTED_AT),
  "clients/typescript/src/generated/webhooks.ts": () => clientWebhooks(registry.webhookFields),
  "clients/testing/generated/webhook-fields.ts": () => webhookFieldNames(registry.webhookFields),
  // The types of the control API are left out if openapi-typescript is missing, as in an installation that only runs the server.
  ...(existsSync(join(ROOT, "node_modules/openapi-typescript")) && { [CONTROL_TYPES]: () => controlTypes(registry) }),
};

/** Returns the document that a running Plaza serves, but with made-up addresses. */
function graphDocument(): object {
  const base = "https://graph.plaza.test";
  const addresses = Object.fromEntries(surfaces.map(({ name, mount }) => [name, `${base}${mount}`])) as Record<SurfaceName, string>;
  return openapiDocument(registry, { profile: "strict", calendar: standardCalendar, now: DOCUMENTED_AT, addresses });
}

const pages = Object.fromEntries([...llmsPages(registry)].map(([name, text]) => [`docs/${name}`, () => text]));

if (import.meta.main) {
  const texts = { ...types, ...pages, ...Object.fromEntries(Object.entries(documents).map(([path, make]) => [path, () => textOf(make())])) };
  for (const [path, write] of Object.entries(texts)) {
    const [file, text] = [join(ROOT, path), await write()];
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  console.log(JSON.stringify(Object.keys(texts)));
}

function textOf(document: object): string {
  return `${JSON.stringify(document, null, 1)}\n`;
}
