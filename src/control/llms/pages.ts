/**
 * Describes the interface in short texts for coding agents: `llms.txt`, and a page for each area, made from the contracts. The control port
 * serves the texts for coding agents, and the build writes them into `docs/`.
 */
import { schemes } from "#auth/schemes";
import type { Feature } from "#graph/contract/feature";
import { paramsIn } from "#graph/contract/openapi/parameters";
import type { Access, FieldSet, Operation } from "#graph/contract/operation";
import type { Endpoint, Registry } from "#graph/contract/registry";
import { commonErrors } from "#graph/contract/response-schemas";
import { requestSchema } from "#graph/schema/public-schema";
import { standardCalendar } from "#graph/versions/calendar";
import { type DeclaredError, definitionOf } from "#kernel/errors";
import { nodeId } from "#kernel/ids";
import { withoutCitations } from "#kernel/text";
import { surfaces } from "#surfaces/surfaces";
import { sampleObject, sampleOf } from "./sample.ts";
import { fieldsText, type Schema, schemaText, versionsText } from "./schema-text.ts";

const SAMPLE_ID = "1234567890";
const TOKEN = "TOKEN";
const common: ReadonlySet<DeclaredError> = new Set(commonErrors);

/** Returns the text of each page by its name. The first page is `llms.txt`. */
export function llmsPages(registry: Registry): ReadonlyMap<string, string> {
  const areas = registry.features
    .map((feature) => ({ feature, endpoints: endpointsOf(registry, feature) }))
    .filter(({ endpoints }) => endpoints.length > 0);
  const pages = new Map([
    ...areas.map(({ feature, endpoints }) => [`llms/${feature.name}.md`, areaPage(feature, endpoints, registry)] as const),
    ["llms/webhooks.md", webhooksPage(registry)] as const,
    ["llms/errors.md", errorsPage(registry)] as const,
  ]);
  const lines = areas.map(
    ({ feature, endpoints }) => `- [${feature.name}](llms/${feature.name}.md): ${endpoints.map(({ access }) => access.operation).join(", ")}`,
  );
  return new Map([["llms.txt", START.replace("AREAS", lines.join("\n"))], ...pages]);
}

const START = `# Plaza

> A server with the HTTP graph interface of a large platform: pages, labels, personas, messages, live video, webhooks, catalogs, app events, versions. Use it in
> place of the platform, on a laptop and in CI.

Start Plaza with \`plaza start --sandbox\` (in a clone \`bin/plaza\`, with the package \`npx --no-install plaza\`), or start a server for one command only:
\`plaza exec -- npm test\`. The command finds its server in the variables PLAZA_BASE_URL, PLAZA_CONTROL_URL and PLAZA_CONTROL_KEY.

- Look: \`plaza logs\`, \`plaza explain TRACE\` (\`pftrace_id\` of an error), \`plaza deliveries list\`.
- Try: \`plaza call POST 2001/custom_labels --as 2001 --field page_label_name=vip\`.
- Arrange: \`plaza node make labels --set page=2001 --set name=vip\`, \`plaza clock advance 3600\`, \`plaza fault add --operation listPersonas --status 503\`.
- Check: \`plaza expect requests\`, \`plaza expect webhooks\`, \`plaza expect app-events APP\`.
- To use all of this as tools, run the MCP server \`plaza mcp\`, or connect to \`/mcp\` of the control port with the control key.

Addresses are \`{base_url}/{version}/{id}/{edge}\`. Parameters of a GET or DELETE are in the query, those of a POST in the body, as form or JSON. Responses are JSON. An
error has \`message\`, \`type\`, \`code\`, perhaps \`error_subcode\` and \`error_data.parameter\`, and \`pftrace_id\`, inside \`error\` unless an operation says *flat*.
Lists have \`data\` and \`paging\`, and take \`limit\`, \`after\` and \`before\`. \`fields=a,b{c}\` selects.

## The interface

AREAS

## More

- [webhooks](llms/webhooks.md): objects, fields and an example of each
- [errors](llms/errors.md): codes, and when they happen
- Guides: [tests](guides/testing.md), [webhooks](guides/webhooks.md), [test a webhook handler](recipes/webhook-handler.md), [app events](guides/app-events.md),
  [MCP](guides/coding-agents.md), [world files](reference/world-files.md), [commands](reference/commands.md)
`;

const endpointsOf = ({ endpoints }: Registry, { operations = [], nodeTypes = [] }: Feature): Endpoint[] => {
  const own = new Set<string>([
    ...operations.map(({ contract }) => contract.operation),
    ...nodeTypes.flatMap(({ reading }) => (reading === undefined ? [] : [reading.operation])),
  ]);
  return endpoints.filter(({ access }) => own.has(access.operation));
};

const areaPage = ({ name }: Feature, endpoints: readonly Endpoint[], registry: Registry): string =>
  [`# ${name}`, ...endpoints.map((endpoint) => operationPart(endpoint, registry))].join("\n\n").concat("\n");

function operationPart(endpoint: Endpoint, registry: Registry): string {
  const { access, served, nodeType } = endpoint;
  const contract = served?.contract;
  const method = contract?.method ?? "GET";
  const set = contract === undefined ? endpoint.reading?.set : contract.kind === "list" ? contract.items : undefined;
  const facts = [
    tokenText(access),
    versionText(access),
    ...(set === undefined ? [] : [`fields: ${fieldsText(set)}`]),
    ...(contract !== undefined && contract.kind !== "list" ? [`response: \`${schemaText(contract.returns as Schema)}\``] : []),
    errorsText(access),
  ];
  return [
    `## ${access.operation}`,
    `\`${method} ${addressOf(endpoint)}\` ${withoutCitations(contract?.summary ?? `Reads a ${nodeType}: its declared fields.`)}`,
    facts.map((fact) => `- ${fact}`).join("\n"),
    ...parametersPart(endpoint, registry),
    `\`\`\`\n${exampleOf(endpoint, method)}\n\`\`\``,
  ].join("\n\n");
}

function addressOf({ access, nodeType, served }: Endpoint): string {
  const [shown] = [...access.surfaces, ...(access.clientsSurfaces ?? [])];
  const surface = surfaces.find(({ name }) => name === shown);
  const version = hasVersion(access) ? "/{version}" : "";
  const edge = served?.contract.edge ?? null;
  return `{${surface?.address}}${version}${nodeType === undefined ? "" : `/{${nodeType}_id}`}${edge === null ? "" : `/${edge}`}`;
}

/** Whether a path has a version after the address of the surface. In paths of the microblog, the surface's address already contains the version. */
const hasVersion = ({ surfaces: on, versions }: Access): boolean => on[0] !== "microblog" && versions !== "unversioned";

function tokenText({ scheme, policy }: Access): string {
  const { places, need } = schemes[scheme];
  const where = `${need === "all" ? "in each of" : "in one of"} ${places.join(", ")}`;
  return `token: ${policy.kinds.join(", ")}${policy.scopes.length === 0 ? "" : ` with ${policy.scopes.join(", ")}`}; ${policy.summary}; ${where}`;
}

const versionText = ({ versions }: Access): string => `versions: ${versionsText[versions]}`;

function errorsText({ errors, errorForm }: Access): string {
  const own = errors.filter((error) => !common.has(error)).map((error) => definitionOf(error));
  return `errors: ${errorForm}${own.map(({ name, code, status }) => `; ${name} (${code}, ${status})`).join("")}`;
}

function parametersPart(endpoint: Endpoint, registry: Registry): string[] {
  const where = registry.servedIn({ profile: "strict", calendar: standardCalendar }, 0);
  const rows = (["query", "body"] as const).flatMap((place) =>
    paramsIn(place, endpoint).map(({ name, schema, isRequired }) => {
      const { description } = requestSchema(schema, where) as Schema;
      return `| \`${name}\`${isRequired ? ", required" : ""} | ${place} | ${cell(schemaText(schema as Schema))} | ${cell(description ?? "")} |`;
    }),
  );
  return rows.length === 0 ? [] : [["| parameter | in | value | |", "|---|---|---|---|", ...rows].join("\n")];
}

const cell = (text: string): string => withoutCitations(text).replaceAll("|", "\\|").replaceAll("\n", " ");

/** Makes an example of a request with the required parameters, and of its response. */
function exampleOf(endpoint: Endpoint, method: string): string {
  const { access, served } = endpoint;
  const contract = served?.contract;
  const { places, need } = schemes[access.scheme];
  const used: readonly string[] = need === "all" ? places : [places[0] as string];
  const query = used.filter((place) => place === "access_token" || place === "oauth_token").map((place) => `${place}=${TOKEN}`);
  for (const { name, schema, isRequired } of paramsIn("query", endpoint)) if (isRequired) query.push(`${name}=${plain(sampleOf(schema as Schema))}`);
  const inBody = paramsIn("body", endpoint).filter(({ isRequired }) => isRequired);
  const body = Object.fromEntries(inBody.map(({ name, schema }) => [name, sampleOf(schema as Schema)]));
  const address = addressOf(endpoint)
    .replace(/^\{\w+\}/, "")
    .replace("{version}", access.versions === "migrationIntents" ? "v25.0" : "v26.0")
    .replaceAll(/\{\w+\}/g, SAMPLE_ID);
  return [
    `${method} ${address}${query.length === 0 ? "" : `?${query.join("&")}`}`,
    ...(used.includes("bearer") ? [`Authorization: Bearer ${TOKEN}`] : []),
    ...(inBody.length === 0 ? [] : ["Content-Type: application/json", "", JSON.stringify(body)]),
    "",
    `200 ${JSON.stringify(responseOf(contract, endpoint))}`,
  ].join("\n");
}

const plain = (value: unknown): string => encodeURIComponent(typeof value === "object" ? JSON.stringify(value) : String(value));

function responseOf(contract: Operation | undefined, { reading }: Endpoint): unknown {
  if (contract === undefined) return reading === undefined ? {} : sampleFields(reading.set);
  if (contract.kind === "list") return { data: [sampleFields(contract.items)], paging: { cursors: { before: "CURSOR", after: "CURSOR" } } };
  return sampleOf(contract.returns as Schema);
}

const sampleFields = ({ fields, defaults }: FieldSet): Record<string, unknown> =>
  sampleObject({ properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema as Schema])) }, defaults);

function webhooksPage({ webhookFields }: Registry): string {
  const at = { entity: nodeId(SAMPLE_ID), phone: undefined, scopedId: undefined, nowMs: 1_795_000_000_000 };
  const objects = [...Map.groupBy(webhookFields.all, ({ object }) => object)].map(([object, fields]) => {
    const parts = fields.map((field, i) => {
      const { payload, summary, carriedIn } = field;
      const place = carriedIn === "changes" ? "" : ` (in \`${carriedIn}\` of the entry, without field and value)`;
      const line = `- \`${field.field}\`: ${withoutCitations(summary)}${place}`;
      // Fields with the same schema have similar payloads, so only the first of these fields gets an example.
      const isShown = fields.findIndex((one) => one.payload === payload) === i;
      return isShown ? `${line}, e.g. \`${JSON.stringify(field.example(at))}\`` : line;
    });
    return `## ${object}\n\n${parts.join("\n")}`;
  });
  return ["# Webhooks", WEBHOOKS, ...objects].join("\n\n").concat("\n");
}

const WEBHOOKS = `A webhook is a POST of JSON to the callback of an app: \`{"object": …, "entry": [{"id": …, "time": …, "changes": [{"field": …, "value": …}]}]}\`. \`X-Hub-Signature-256\`
is \`sha256=\` and the HMAC of the body with the app's secret, in hex. Respond with 200; after any other response Plaza sends the webhook again, with the same \`webhook-id\`. Plaza first checks a callback by a
GET with \`hub.mode\`, \`hub.verify_token\` and \`hub.challenge\`: respond with the challenge. The pages below have each field with an example of its value.`;

function errorsPage({ errors }: Registry): string {
  const rows = [...errors].map(
    ([name, { status, code, subcode, when }]) => `| ${name} | ${code}${subcode === undefined ? "" : ` / ${subcode}`} | ${status} | ${cell(when)} |`,
  );
  return ["# Errors", ["| name | code | status | when |", "|---|---|---|---|", ...rows].join("\n")].join("\n\n").concat("\n");
}
