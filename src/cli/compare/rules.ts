/** What may differ between two servers: rules of the interface, and those of a file. */
import { readFileSync } from "node:fs";
import type { Registry } from "#graph/contract/registry";
import { readYaml } from "#graph/worlds/file/yaml";
import { type OperationForm, operationForm } from "./operations.ts";

export interface Rule {
  /** An operation's name, or its address form; every operation where it is left out. */
  readonly operation?: string;
  /** Where: `status`, `header.content-type`, `body.data.*.id`; `*` is one step, `**` any number. */
  readonly path: string;
  /** `value`: it must be there on both sides or on neither. `anything`: nothing is looked at. */
  readonly may_differ: "value" | "anything";
}

/** Signed by the server's own key, made for the one request or at its time, or an address that names the server. */
export const ownRules: readonly Rule[] = [
  { path: "body.**.pftrace_id", may_differ: "value" },
  { path: "body.**.paging.cursors.*", may_differ: "value" },
  { path: "body.**.paging.next", may_differ: "value" },
  { path: "body.**.paging.previous", may_differ: "value" },
  // Made at random for each live video.
  { path: "body.**.stream_key", may_differ: "value" },
  { path: "body.**.stream_url", may_differ: "value" },
  { path: "body.**.secure_stream_url", may_differ: "value" },
  // Of a token for which nobody says it, when its world was loaded; two servers load theirs one after the other.
  { operation: "inspectToken", path: "body.data.issued_at", may_differ: "value" },
  // Of a request in a batch: trace id and ETag among others.
  { path: "body.*.headers.**", may_differ: "anything" },
];

const KEYS: ReadonlySet<string> = new Set(["operation", "path", "may_differ"]);

/** A YAML list of rules. Throws with a message for the user. `registry` has the operations that a rule may name. */
export async function readRules(file: string, registry: Registry): Promise<Rule[]> {
  let given: unknown;
  try {
    given = await readYaml(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  if (!Array.isArray(given)) throw new Error(`${file} is no list of rules`);
  return given.map((rule: unknown, at) => {
    const problem = problemOf(rule) ?? unknownOperation(rule as Rule, registry);
    if (problem !== undefined) throw new Error(`${file}: rule ${at + 1} ${problem}`);
    return { may_differ: "anything", ...(rule as object) } as Rule;
  });
}

function problemOf(rule: unknown): string | undefined {
  if (typeof rule !== "object" || rule === null) return "is no mapping";
  const unknown = Object.keys(rule).find((key) => !KEYS.has(key));
  if (unknown !== undefined) return `has the unknown key ${unknown} (known: ${[...KEYS].join(", ")})`;
  const { path, operation = "", may_differ = "anything" } = rule as Record<string, unknown>;
  if (typeof path !== "string" || !/^(status|header|body)(\.|$)/.test(path)) return "needs a path that begins with status, header or body";
  if (typeof operation !== "string") return "has an operation that is no text";
  return may_differ === "value" || may_differ === "anything" ? undefined : "may_differ is neither value nor anything";
}

/** Such a rule would allow nothing, in silence. An address need not be one of the contract: what is compared may be any server. */
function unknownOperation({ operation }: Rule, registry: Registry): string | undefined {
  if (operation === undefined) return undefined;
  const [, method = "", path = ""] = /^([A-Z]+) (\/.*)$/.exec(operation) ?? [];
  if (method !== "") {
    const { address } = operationForm(registry, method, path.replaceAll(/\{[^{}]*\}/g, "1"));
    return address === operation ? undefined : `names the address ${operation}, which no request has: write ${address}`;
  }
  const names = new Set(registry.endpoints.map(({ access }) => access.operation));
  return names.has(operation)
    ? undefined
    : `names the operation ${operation}, which does not exist: write a name of docs/reference/operations.md, such as listLabels, or an address, such as GET /{id}/custom_labels`;
}

/** The rule that speaks of a place, the last one first: a file can say more than what is built in. */
export const ruleFor = (rules: readonly Rule[], form: OperationForm, path: readonly string[]): Rule | undefined =>
  rules.findLast(
    ({ operation, path: pattern }) =>
      (operation === undefined || operation === form.address || form.names.includes(operation)) && isMatch(pattern.split("."), path),
  );

function isMatch(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return path.length === 0;
  if (first === "**") return path.some((_, at) => isMatch(rest, path.slice(at))) || isMatch(rest, []);
  return path.length > 0 && (first === "*" || first === path[0]) && isMatch(rest, path.slice(1));
}
