/** Reads the rules about differences that `plaza compare` does not report: the built-in rules and the rules of a file. */
import { readFileSync } from "node:fs";
import type { Registry } from "#graph/contract/registry";
import { readYaml } from "#graph/worlds/file/yaml";
import { type OperationForm, operationForm } from "./operations.ts";

export interface Rule {
  /** The name of an operation, or its method and path with placeholders. A rule without an operation applies to every operation. */
  readonly operation?: string;
  /**
   * The path of the value, for example `status`, `header.content-type` or `body.data.*.id`. In a path, `*` means any single key or index, and
   * `**` means any number of keys and indexes.
   */
  readonly path: string;
  /**
   * With `value`, either both servers or neither must return the value, and the two values may differ. With `anything`, the values of the two
   * servers are not compared at all.
   */
  readonly may_differ: "value" | "anything";
}

/** The built-in rules: values that are signed with the server's own key, are made for one request, or contain the server's address. */
export const ownRules: readonly Rule[] = [
  { path: "body.**.pftrace_id", may_differ: "value" },
  { path: "body.**.paging.cursors.*", may_differ: "value" },
  { path: "body.**.paging.next", may_differ: "value" },
  { path: "body.**.paging.previous", may_differ: "value" },
  // The stream key is random for each live video.
  { path: "body.**.stream_key", may_differ: "value" },
  { path: "body.**.stream_url", may_differ: "value" },
  { path: "body.**.secure_stream_url", may_differ: "value" },
  // The time of issue is the time at which the world was loaded, unless the token's entry in the world file has a time of issue.
  { operation: "inspectToken", path: "body.data.issued_at", may_differ: "value" },
  // The headers of the parts of a batch, such as trace id and ETag, are not compared.
  { path: "body.*.headers.**", may_differ: "anything" },
];

const KEYS: ReadonlySet<string> = new Set(["operation", "path", "may_differ"]);

/** Reads a YAML list of rules. `registry` has the operations that a rule may name. Throws an error with a message for the user. */
export async function readRules(file: string, registry: Registry): Promise<Rule[]> {
  let given: unknown;
  try {
    given = await readYaml(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  if (!Array.isArray(given)) throw new Error(`${file} is not a list of rules`);
  return given.map((rule: unknown, at) => {
    const problem = problemOf(rule) ?? unknownOperation(rule as Rule, registry);
    if (problem !== undefined) throw new Error(`${file}: rule ${at + 1} ${problem}`);
    return { may_differ: "anything", ...(rule as object) } as Rule;
  });
}

function problemOf(rule: unknown): string | undefined {
  if (typeof rule !== "object" || rule === null) return "is not a mapping";
  const unknown = Object.keys(rule).find((key) => !KEYS.has(key));
  if (unknown !== undefined) return `has the unknown key ${unknown} (known: ${[...KEYS].join(", ")})`;
  const { path, operation = "", may_differ = "anything" } = rule as Record<string, unknown>;
  if (typeof path !== "string" || !/^(status|header|body)(\.|$)/.test(path)) return "needs a path that begins with status, header or body";
  if (typeof operation !== "string") return "has an operation that is not text";
  return may_differ === "value" || may_differ === "anything" ? undefined : "needs the may_differ value or anything";
}

/**
 * Returns the problem with a rule's operation, because a rule with an unknown operation would match no request. A method with a path need not be in
 * the contract, because the compared servers need not be Plaza.
 */
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

/** Returns the last rule that matches a value's path, so that the rules of a file override the built-in rules. */
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
