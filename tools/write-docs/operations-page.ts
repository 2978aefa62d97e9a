import { commonErrors } from "#graph/contract/common-errors";
import type { Feature } from "#graph/contract/feature";
import type { Access, FieldSet, NodeType, Operation } from "#graph/contract/operation";
import { type DeclaredError, definitionOf } from "#kernel/errors";
import { surfaces } from "#surfaces/surfaces";
import { code, codes, page, table } from "./markdown.ts";
import { propertiesOf, type Schema, schemaText } from "./schema-text.ts";

const commonNames: ReadonlySet<DeclaredError> = new Set(commonErrors);

export function operationsPage(features: readonly Feature[]): string {
  const serving = features.filter(
    ({ operations, nodeTypes }) => (operations ?? []).length > 0 || nodeTypes?.some(({ reading }) => reading !== undefined),
  );
  const intro =
    "One section for each feature that serves calls. What every request has is not repeated: `fields` (D-33), `before`, `after` and `limit` on lists " +
    "(D-30, D-31), the tokens ([permissions.md](permissions.md)) and the errors that any request may meet ([errors.md](errors.md)).";
  return page("Operations", "the rooms' contracts", [intro, ...serving.map(featureSection)]);
}

function featureSection({ name, nodeTypes, operations }: Feature): string {
  const reads = (nodeTypes ?? []).flatMap((type) => (type.reading === undefined ? [] : [readSection(type, type.reading)]));
  return [`## ${name}`, ...(operations ?? []).map(({ contract }) => operationSection(contract)), ...reads].join("\n\n");
}

export const addressOf = ({ on, edge }: Pick<Operation, "on" | "edge">): string =>
  [on === null ? undefined : `{${on}_id}`, edge ?? undefined].filter((part) => part !== undefined).reduce((path, part) => `${path}/${part}`, "");

function operationSection(contract: Operation): string {
  const facts = [`${code(`${contract.method} ${addressOf(contract)}`)}: ${contract.summary}`, ...accessFacts(contract)];
  const response = contract.kind === "list" ? `a page of items with ${fieldsText(contract.items)}` : schemaText(contract.returns as Schema);
  return [`### ${contract.operation}`, list([...facts, `answers: ${contract.kind === "list" ? response : code(response)}`]), parameters(contract)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function readSection({ type }: NodeType, reading: NonNullable<NodeType["reading"]>): string {
  const facts = [`${code(`GET /{${type}_id}`)}: reads the node`, ...accessFacts(reading), `answers: ${fieldsText(reading.set)}`];
  return [`### ${reading.operation}`, list(facts)].join("\n\n");
}

const list = (facts: readonly string[]): string => facts.map((fact) => `- ${fact}`).join("\n");

function accessFacts({ surfaces: shown, clientsSurfaces, versions, errorForm, errors, clauses }: Access): string[] {
  const own = errors.filter((error) => !commonNames.has(error)).map((error) => definitionOf(error).name);
  const on = codes(shown.map(surfaceName));
  const more = clientsSurfaces === undefined ? "" : ` (and, with the profile \`clients\`, ${codes(clientsSurfaces.map(surfaceName))})`;
  return [
    `on ${on}${more}; versions: ${versionsText[versions]}; errors: ${errorForm}${own.length === 0 ? "" : `, ${codes(own)} beside the common ones`}`,
    ...(clauses.length === 0 ? [] : [`clauses: ${clauses.join(", ")}`]),
  ];
}

const surfaceName = (name: string): string => `{${surfaces.find((surface) => surface.name === name)?.address ?? name}}`;

const versionsText: Readonly<Record<Access["versions"], string>> = {
  platform: "those of the platform (D-03)",
  migrationIntents: "v23.0 to v25.0, never without (D-03)",
  unversioned: "none in the path",
  marketing: "the marketing calendar, never without (D-80)",
  marketingOrCurrent: "the marketing calendar, the current one without (D-03)",
};

function fieldsText(set: FieldSet): string {
  const { fields, defaults } = set;
  const inStrict = Object.entries(fields).filter(([, { onlyIn }]) => onlyIn === undefined);
  const inClients = Object.entries(fields).filter(([, { onlyIn }]) => onlyIn === "clients");
  const more = inClients.length === 0 ? "" : `; with the profile \`clients\` also ${codes(inClients.map(([name]) => name))}`;
  return `${codes(inStrict.map(([name]) => name))} (by default ${codes(defaults)}${more})`;
}

function parameters({ params }: Operation): string {
  const rows = propertiesOf(params as Schema).map(({ name, schema, isRequired }) => [code(name), schemaText(schema), isRequired ? "yes" : ""]);
  return rows.length === 0 ? "" : table(["parameter", "value", "needed"], rows);
}
