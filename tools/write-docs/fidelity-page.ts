/**
 * Writes `spec/fidelity.md` from contracts, cases, clauses and decisions. For each operation, the page lists the conformance cases that prove its
 * clauses, the decisions that answer open questions of the interface document, and the intended differences.
 */
import { type Case, loadCases } from "#conformance/cases";
import { type Clause, readClauses, readClauseTable, readReasons, showableKinds } from "#conformance/coverage";
import type { Feature } from "#graph/contract/feature";
import type { Access, FieldSet } from "#graph/contract/operation";
import { type Endpoint, Registry } from "#graph/contract/registry";
import { withoutCitations } from "#kernel/text";
import { type Decision, readDecisions } from "./decisions.ts";
import { code, codes, page, table } from "./markdown.ts";
import { addressOf } from "./operations-page.ts";

/** The data from which the page is written. Tests of this module pass made-up data. */
export interface Evidence {
  readonly clauses: ReadonlyMap<string, Clause>;
  readonly cases: readonly Case[];
  readonly decisions: ReadonlyMap<string, Decision>;
  /** The reason why a clause has no case, by the id of the clause. */
  readonly reasons: ReadonlyMap<string, string>;
  /** The decisions that answer a clause of the kind `open`, by the id of the clause. */
  readonly leftOpen: ReadonlyMap<string, string>;
}

export const readEvidence = (): Evidence => ({
  clauses: new Map(readClauses().map((clause) => [clause.id, clause])),
  cases: loadCases(),
  decisions: readDecisions(),
  reasons: readReasons(),
  leftOpen: readClauseTable("left-open.md"),
});

const INTRO = `This page compares Plaza with the interface document, operation by operation: the clauses that Plaza fulfils, the conformance cases that show it, the decisions
that fill a gap of the document, and the intended differences. The clauses are those of [clauses.yaml](clauses.yaml), the decisions those of
[spec/decisions](decisions/README.md), and the cases those of [conformance](../conformance/README.md), which can check any server from outside. A clause is *shown* if
a case fails on a server that breaks it; \`plaza conform\` runs the cases.`;

export function fidelityPage(features: readonly Feature[], evidence: Evidence): string {
  const { endpoints, webhookFields } = new Registry(features);
  const sections = endpoints.map((endpoint) => operationSection(endpoint, evidence));
  const fields = webhookFields.all.filter(({ clauses }) => clauses.length > 0);
  const webhooks = fields.map(({ object, field, clauses }) => `### ${object}, ${field}\n\n${clauseTable(clauses, evidence)}`);
  const ofOperations = new Set([...endpoints.flatMap(({ access }) => access.clauses), ...fields.flatMap(({ clauses }) => clauses)]);
  const others = [...evidence.clauses.values()].filter(({ id, kind }) => showableKinds.has(kind) && !ofOperations.has(id));
  const everywhere = [...Map.groupBy(others, ({ area }) => area)].map(
    ([area, clauses]) =>
      `### ${area}\n\n${clauseTable(
        clauses.map(({ id }) => id),
        evidence,
      )}`,
  );
  return page("Fidelity", "contracts, conformance cases, clauses and decisions", [
    INTRO.replaceAll("\n", " "),
    "## Areas",
    areaTable(evidence),
    "## Operations",
    ...sections,
    "## Webhooks",
    ...webhooks,
    "## Clauses about several operations",
    ...everywhere,
    "## Questions that the document leaves open",
    leftOpenTable(evidence),
    "## Intended differences",
    differences(evidence),
  ]);
}

function areaTable({ clauses, cases }: Evidence): string {
  const shown = new Set(cases.flatMap((one) => one.clauses));
  const areas = Map.groupBy(clauses.values(), ({ area }) => area);
  const rows = [...areas].map(([area, all]) => {
    const showable = all.filter(({ kind }) => showableKinds.has(kind));
    const open = all.filter(({ kind }) => kind === "open").length;
    return [area, `${showable.filter(({ id }) => shown.has(id)).length} of ${showable.length}`, String(open)];
  });
  return table(["area", "shown, of all clauses that a server can show", "left open by the document, and decided"], rows);
}

function operationSection(endpoint: Endpoint, evidence: Evidence): string {
  const { access, served, nodeType = null } = endpoint;
  const contract = served?.contract;
  const [method, edge] = [contract?.method ?? "GET", contract?.edge ?? null];
  const summary = contract === undefined ? `Reads a node of the type ${nodeType}.` : withoutCitations(contract.summary);
  const decided = decisionsOf(access, evidence);
  const facts = [
    `${code(`${method} ${addressOf({ on: nodeType, edge })}`)}: ${summary}`,
    ...(access.decisions.length === 0 ? [] : [`decided: ${decided.map(linkTo).join(", ")}`]),
    ...differencesOf(endpoint, decided, evidence).map((difference) => `intended difference: ${difference}`),
  ];
  const list = facts.map((fact) => `- ${fact}`).join("\n");
  const proof = access.clauses.length > 0 ? clauseTable(access.clauses, evidence) : additionText(access, method, edge, evidence);
  return [`### ${access.operation}`, list, proof].join("\n\n");
}

function decisionsOf({ decisions }: Access, evidence: Evidence): Decision[] {
  return decisions.map((id) => {
    const decision = evidence.decisions.get(id);
    if (decision === undefined) throw new Error(`a contract names ${id}, which spec/decisions does not have`);
    return decision;
  });
}

const linkTo = ({ id, title, link }: Decision): string => `[${id} ${title}](${link})`;

function differencesOf({ access, served, reading }: Endpoint, decided: readonly Decision[], { reasons }: Evidence): string[] {
  const contract = served?.contract;
  const set = contract?.kind === "list" ? contract.items : reading?.set;
  return [
    ...(access.clauses.length === 0 ? ["the document does not have this operation"] : []),
    ...access.clauses.filter((id) => reasons.has(id)).map((id) => `${id}: ${reasons.get(id)}`),
    ...(access.clientsSurfaces === undefined ? [] : [`with the profile \`clients\` also on ${codes(access.clientsSurfaces)}`]),
    ...(access.tokenless === undefined ? [] : ["with the profile `clients` also without a token, if the app allows it"]),
    ...(set === undefined ? [] : clientsFields(set)),
    ...decided.filter(({ hasClients }) => hasClients).map((decision) => `with the profile \`clients\` as ${linkTo(decision)} says`),
  ];
}

function clientsFields({ fields }: FieldSet): string[] {
  const own = Object.keys(fields).filter((name) => fields[name]?.onlyIn === "clients");
  return own.length === 0 ? [] : [`with the profile \`clients\` also the ${own.length === 1 ? "field" : "fields"} ${codes(own)}`];
}

function clauseTable(ids: readonly string[], { clauses, cases, reasons }: Evidence): string {
  const rows = ids.map((id) => {
    const showing = cases.filter((one) => one.clauses.includes(id));
    const clause = clauses.get(id);
    if (clause === undefined) throw new Error(`a contract names the clause ${id}, which does not exist`);
    const isShowable = showableKinds.has(clause.kind);
    return [
      id,
      clause.text,
      showing.length > 0 ? casesText(showing) : isShowable ? `none: ${reasons.get(id) ?? "no case"}` : "no test of a server can show it",
    ];
  });
  return table(["clause", "says", "shown by"], rows);
}

/** Writes the names of the cases. If a case has examples or runs in both response profiles, it counts as several cases with the same name. */
function casesText(showing: readonly Case[]): string {
  return [...Map.groupBy(showing, ({ name }) => name)].map(([name, all]) => `${name}${all.length === 1 ? "" : ` (${all.length} ways)`}`).join("<br>");
}

/**
 * Writes the row of an operation that the interface document does not have. The row lists the conformance cases that cite one of the operation's
 * decisions and send a request to the operation.
 */
function additionText({ decisions }: Access, method: string, edge: string | null, { cases }: Evidence): string {
  const showing = cases.filter(
    (one) => one.decisions.some((id) => decisions.includes(id)) && one.steps.some((step) => isRequest(step, method, edge)),
  );
  return showing.length === 0 ? "No conformance case: this is an addition, which Plaza's own tests cover." : `Shown by: ${casesText(showing)}`;
}

function isRequest(step: Case["steps"][number], method: string, edge: string | null): boolean {
  if (step.kind !== "request" || step.method !== method || step.on === "world" || step.on === "control") return false;
  const last = step.target.replace(/\?.*$/, "").split("/").at(-1) ?? "";
  return edge === null ? /^(\d+|me|\{\{\w+\}\})$/.test(last) : last === edge;
}

function leftOpenTable({ clauses, decisions, leftOpen }: Evidence): string {
  const rows = [...clauses.values()]
    .filter(({ kind }) => kind === "open")
    .map(({ id, text }) => {
      const named = leftOpen.get(id)?.split(", ") ?? [];
      const links = named.map((decision) => decisions.get(decision));
      if (named.length === 0 || links.includes(undefined)) throw new Error(`spec/left-open.md names no known decision for ${id}`);
      return [id, text, links.map((decision) => linkTo(decision as Decision)).join(", ")];
    });
  return table(["clause", "says", "decided by"], rows);
}

function differences({ reasons, decisions }: Evidence): string {
  const clients = [...decisions.values()].filter(({ hasClients }) => hasClients).map(linkTo);
  return [
    ...[...reasons].map(([id, reason]) => `- ${id} is not shown: ${reason}`),
    `- The profile \`strict\` follows the document to the letter. \`clients\` differs where these decisions say so: ${clients.join(", ")}`,
    "- Operations that the document does not have are marked above.",
  ].join("\n");
}
