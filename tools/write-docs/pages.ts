/** The pages and types that are written from what the program itself holds: catalogue, contracts, policies, options. */
import { configFileSchema } from "#config/config-file-schema";
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
import { clientOperations } from "./client-operations.ts";
import { clientWebhooks } from "./client-webhooks.ts";
import { commandsPage } from "./commands-page.ts";
import { configurationPage } from "./configuration-page.ts";
import { controlApiPage } from "./control-api-page.ts";
import { controlTypes } from "./control-types.ts";
import { errorsPage } from "./errors-page.ts";
import { fidelityPage, readEvidence } from "./fidelity-page.ts";
import { operationsPage } from "./operations-page.ts";
import { permissionsPage } from "./permissions-page.ts";
import { webhookFieldsPage } from "./webhook-fields-page.ts";
import { worldFilesPage } from "./world-files-page.ts";

/** What writes each, by its path in the project. */
export const pages: Readonly<Record<string, () => string>> = {
  "docs/reference/commands.md": commandsPage,
  "docs/reference/configuration.md": configurationPage,
  "docs/reference/control-api.md": controlApiPage,
  "docs/reference/errors.md": () => errorsPage(new Registry(features)),
  "docs/reference/operations.md": () => operationsPage(features),
  "docs/reference/permissions.md": () => permissionsPage(features),
  "docs/reference/webhook-fields.md": () => webhookFieldsPage(new Registry(features)),
  "docs/reference/world-files.md": () => worldFilesPage(features),
  "docs/reference/openapi.json": () => openapiText(),
  "docs/reference/control-openapi.json": controlOpenapiText,
  "docs/reference/asyncapi.json": () => asyncapiText(),
  "clients/typescript/src/generated/operations.ts": () => clientOperations(new Registry(features), standardCalendar, DOCUMENTED_AT),
  "clients/typescript/src/generated/webhooks.ts": () => clientWebhooks(new Registry(features).webhookFields),
  "docs/fidelity.md": () => fidelityPage(features, readEvidence()),
  "docs/reference/config.schema.json": () => textOf(configFileSchema(settings)),
  "docs/reference/world.schema.json": () => textOf(worldFileSchema(sectionsOf(new Registry(features)))),
  "clients/testing/generated/control-api.ts": controlTypes,
};

/** Which marketing versions are served depends on the time: this is where the standard calendar ends, in Unix seconds. */
const DOCUMENTED_AT = Date.parse("2026-11-20T00:00:00Z") / 1000;

const textOf = (document: unknown): string => `${JSON.stringify(document, null, 1)}\n`;

/** The document that a running Plaza serves, with made-up addresses. */
function openapiText(): string {
  const base = "https://graph.plaza.test";
  const addresses = Object.fromEntries(surfaces.map(({ name, mount }) => [name, `${base}${mount}`])) as Record<SurfaceName, string>;
  const document = openapiDocument(new Registry(features), { profile: "strict", calendar: standardCalendar, now: DOCUMENTED_AT, addresses });
  return textOf(document);
}

function controlOpenapiText(): string {
  const registry = new Registry(features);
  return textOf(openapiOf(controlRoutes(registry), sectionsOf(registry), "http://127.0.0.1:4001"));
}

function asyncapiText(): string {
  const document = asyncapiDocument(new Registry(features).webhookFields, formatVersion(newestVersion(standardCalendar, 0)), DOCUMENTED_AT * 1000);
  return textOf(document);
}
