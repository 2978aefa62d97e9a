import { fieldsText, propertiesOf, type Schema, schemaText, versionsText } from "#control/llms/schema-text";
import type { Feature } from "#graph/contract/feature";
import type { Access, NodeType, Operation } from "#graph/contract/operation";
import { commonErrors } from "#graph/contract/response-schemas";
import { type DeclaredError, definitionOf } from "#kernel/errors";
import { withoutCitations } from "#kernel/text";
import { surfaces } from "#surfaces/surfaces";
import { code, codes, page, table } from "./markdown.ts";

const commonNames: ReadonlySet<DeclaredError> = new Set(commonErrors);

export function operationsPage(features: readonly Feature[]): string {
  const serving = features.filter(
    ({ operations, nodeTypes }) => (operations ?? []).length > 0 || nodeTypes?.some(({ reading }) => reading !== undefined),
  );
  const intro =
    "One section for each feature that serves requests. [The interface](../interface/README.md) explains them with examples. The sections do not repeat `fields`, " +
    "and `before`, `after` and `limit` of lists ([paging](../interface/paging.md)); tokens ([permissions](permissions.md)); errors that any request can " +
    "return ([errors](errors.md)).";
  return page("Operations", "the features' contracts", [intro, ...serving.map(featureSection)]);
}

function featureSection({ name, nodeTypes, operations }: Feature): string {
  const reads = (nodeTypes ?? []).flatMap((type) => (type.reading === undefined ? [] : [readSection(type, type.reading)]));
  return [`## ${name}`, ...(operations ?? []).map(({ contract }) => operationSection(contract)), ...reads].join("\n\n");
}

export const addressOf = ({ on, edge }: Pick<Operation, "on" | "edge">): string =>
  [on === null ? undefined : `{${on}_id}`, edge ?? undefined].filter((part) => part !== undefined).reduce((path, part) => `${path}/${part}`, "");

function operationSection(contract: Operation): string {
  const facts = [`${code(`${contract.method} ${addressOf(contract)}`)}: ${withoutCitations(contract.summary)}`, ...accessFacts(contract)];
  const response = contract.kind === "list" ? `a page of items with ${fieldsText(contract.items)}` : schemaText(contract.returns as Schema);
  return [`### ${contract.operation}`, list([...facts, `returns: ${contract.kind === "list" ? response : code(response)}`]), parameters(contract)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function readSection({ type }: NodeType, reading: NonNullable<NodeType["reading"]>): string {
  const facts = [`${code(`GET /{${type}_id}`)}: reads the node`, ...accessFacts(reading), `returns: ${fieldsText(reading.set)}`];
  return [`### ${reading.operation}`, list(facts)].join("\n\n");
}

const list = (facts: readonly string[]): string => facts.map((fact) => `- ${fact}`).join("\n");

function accessFacts({ surfaces: shown, clientsSurfaces, versions, errorForm, errors }: Access): string[] {
  const own = errors.filter((error) => !commonNames.has(error)).map((error) => definitionOf(error).name);
  const on = codes(shown.map(surfaceName));
  const further = clientsSurfaces === undefined ? "" : codes(clientsSurfaces.map(surfaceName));
  const where =
    on === ""
      ? `on ${further}, with the profile \`clients\` only`
      : `on ${on}${further === "" ? "" : ` (with the profile \`clients\` also ${further})`}`;
  return [`${where}; versions: ${versionsText[versions]}; errors: ${errorForm}${own.length === 0 ? "" : `, ${codes(own)} besides the common ones`}`];
}

const surfaceName = (name: string): string => `{${surfaces.find((surface) => surface.name === name)?.address ?? name}}`;

function parameters({ params }: Operation): string {
  const rows = propertiesOf(params as Schema).map(({ name, schema, isRequired }) => [code(name), schemaText(schema), isRequired ? "yes" : ""]);
  return rows.length === 0 ? "" : table(["parameter", "value", "required"], rows);
}
