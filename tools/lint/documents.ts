/** `npm run check -- documents`: the OpenAPI and AsyncAPI documents pass the recommended rules of Redocly and Spectral, and AsyncAPI's own reader. */
import { Parser } from "@asyncapi/parser";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Spectral } from "@stoplight/spectral-core";
import { asyncapi, oas } from "@stoplight/spectral-rulesets";
import { openapiOf } from "#control/openapi/document";
import { controlRoutes } from "#control/routes";
import { openapiDocument } from "#graph/contract/openapi/document";
import { standardCalendar } from "#graph/versions/calendar";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { buildRegistry } from "#main";
import { surfaces } from "#surfaces/surfaces";
import { asyncapiDocument } from "#webhooks/catalogue/asyncapi";

/** 2026-11-18: one marketing version is left. */
const NOW_MS = 1_795_000_000_000;

const registry = buildRegistry();

/** Without the rule that wants an address and a mailbox of the contact: the project has neither. The rules for OpenAPI do not want them. */
const withoutMailbox = { extends: asyncapi, rules: { "asyncapi-info-contact-properties": "off" } };

async function problemsOf(document: object, rules: unknown): Promise<string[]> {
  const source = JSON.stringify(document);
  const redocly = await lintFromString({ source, config: await createConfig({ extends: ["recommended"] }) });
  const spectral = new Spectral();
  spectral.setRuleset(rules as never);
  const found = await spectral.run(JSON.parse(source));
  return [
    ...redocly.map(({ ruleId, severity, message, location }) => `redocly ${severity} ${ruleId}: ${message} at ${location[0]?.pointer}`),
    ...found.map(({ code, message, path }) => `spectral ${code}: ${message} at ${path.join("/")}`),
  ];
}

const addresses = Object.fromEntries(surfaces.map(({ name, mount }) => [name, `https://graph.plaza.test${mount}`]));
const graph = (profile: "strict" | "clients", only: object = {}): object =>
  openapiDocument(registry, { profile, calendar: standardCalendar, now: NOW_MS / 1000, addresses: addresses as never, ...only });

// The documents of one surface and of one node type are parts of the whole: one of each is enough.
const documents: Readonly<Record<string, object>> = {
  strict: graph("strict"),
  clients: graph("clients"),
  "surface ads": graph("strict", { surface: "ads" }),
  "node type label": graph("strict", { type: "label" }),
  "control API": openapiOf(controlRoutes(registry), sectionsOf(registry), "https://control.plaza.test"),
};

const webhooks = asyncapiDocument(registry.webhookFields, "v26.0", NOW_MS);
const { diagnostics } = await new Parser().parse(JSON.stringify(webhooks));
const problems = [
  ...diagnostics.map(({ code, message, path }) => `webhooks: asyncapi ${code}: ${message} at ${path.join("/")}`),
  ...(await problemsOf(webhooks, withoutMailbox)).map((problem) => `webhooks: ${problem}`),
];
for (const [name, document] of Object.entries(documents)) for (const problem of await problemsOf(document, oas)) problems.push(`${name}: ${problem}`);

for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
