/** `npm run check -- documents`: checks the OpenAPI and AsyncAPI documents by Redocly's recommended rules. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { openapiOf } from "#control/openapi/document";
import { controlRoutes } from "#control/routes";
import { openapiDocument } from "#graph/contract/openapi/document";
import { standardCalendar } from "#graph/versions/calendar";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { buildRegistry } from "#main";
import { surfaces } from "#surfaces/surfaces";
import { asyncapiDocument } from "#webhooks/catalogue/asyncapi";

/** 2026-11-18, when only one marketing version is still served. */
const NOW_MS = 1_795_000_000_000;

const registry = buildRegistry();

async function problemsOf(document: object): Promise<string[]> {
  const found = await lintFromString({ source: JSON.stringify(document), config: await createConfig({ extends: ["recommended"] }) });
  return found.map(({ ruleId, severity, message, location }) => `${severity} ${ruleId}: ${message} at ${location[0]?.pointer}`);
}

const addresses = Object.fromEntries(surfaces.map(({ name, mount }) => [name, `https://graph.plaza.test${mount}`]));
const graph = (profile: "strict" | "clients", only: object = {}): object =>
  openapiDocument(registry, { profile, calendar: standardCalendar, now: NOW_MS / 1000, addresses: addresses as never, ...only });

// The documents of single surfaces and of single node types are cut from the whole document, so checking one document
// of each sort is enough.
const documents: Readonly<Record<string, object>> = {
  strict: graph("strict"),
  clients: graph("clients"),
  "surface ads": graph("strict", { surface: "ads" }),
  "node type label": graph("strict", { type: "label" }),
  "control API": openapiOf(controlRoutes(registry), sectionsOf(registry), "https://control.plaza.test"),
  webhooks: asyncapiDocument(registry.webhookFields, "v26.0", NOW_MS),
};

const problems: string[] = [];
for (const [name, document] of Object.entries(documents)) for (const problem of await problemsOf(document)) problems.push(`${name}: ${problem}`);

for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
