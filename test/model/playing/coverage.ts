/** Counts the operations, errors and rules of the model that histories have reached. */

import { operations } from "../reference/all-operations.ts";
import { catalogue, type ErrorName } from "../reference/errors.ts";
import { errorsNotDrawn, notDrawn, withoutRule } from "../rules/decisions.ts";
import { type Rule, rules } from "../rules/rules.ts";

const lines = (title: string, counts: Iterable<readonly [string, number]>): string[] => [
  title,
  ...[...counts].map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`),
];

/** The decisions that a text cites. */
export const cited = (text: string): string[] => text.match(/\bD-\d+/g) ?? [];

const byNumber = (one: readonly [string, unknown], other: readonly [string, unknown]): number => Number(one[0].slice(2)) - Number(other[0].slice(2));

const reasons = (title: string, given: Readonly<Record<string, string>>): string[] => [
  title,
  ...Object.entries(given)
    .sort(byNumber)
    .map(([name, why]) => `  ${name.padStart(6)}  ${why}`),
];

export class Coverage {
  /** The rules that this run of histories cannot reach. */
  readonly #beyond: ReadonlySet<Rule>;

  constructor(beyond: readonly Rule[] = []) {
    this.#beyond = new Set(beyond);
  }

  readonly #operations = new Map<string, number>();
  readonly #errors = new Map<string, number>();
  readonly #rules = new Map<Rule, number>();
  readonly #steps = new Map<string, number>();
  #requests = 0;

  readonly reach = (rule: Rule): void => void this.#rules.set(rule, (this.#rules.get(rule) ?? 0) + 1);

  count(operation: string | undefined, error: ErrorName | undefined): void {
    this.#requests++;
    const [map, name] = error === undefined ? [this.#operations, operation ?? "none"] : [this.#errors, error];
    map.set(name, (map.get(name) ?? 0) + 1);
  }

  /** Counts an event that is not a single request, by the event's type and world. */
  readonly happens = (what: string): void => void this.#steps.set(what, (this.#steps.get(what) ?? 0) + 1);

  /** The operations, errors and rules that no history has reached. */
  unreached(): string[] {
    return [
      ...operations.filter(({ name }) => !this.#operations.has(name)).map(({ name }) => `operation ${name}`),
      ...Object.keys(catalogue)
        .filter((error) => !this.#errors.has(error))
        .map((error) => `error ${error}`),
      ...(Object.keys(rules) as Rule[]).filter((rule) => !this.#rules.has(rule) && !this.#beyond.has(rule)).map((rule) => rules[rule]),
    ];
  }

  /** A report of everything except requests: moves of the clock, restarts, exports and actions of people and operators, by world and profile. */
  happenings(): string {
    return lines("what happened", this.#steps).join("\n");
  }

  #decisions(): (readonly [string, number])[] {
    const counts = new Map<string, number>();
    for (const [rule, text] of Object.entries(rules))
      for (const decision of cited(text)) counts.set(decision, (counts.get(decision) ?? 0) + (this.#rules.get(rule as Rule) ?? 0));
    return [...counts].sort(byNumber);
  }

  report(): string {
    return [
      `${this.#requests} requests`,
      ...lines("replied with success, by operation", this.#operations),
      ...lines("refused, by error", this.#errors),
      ...lines(
        "rules reached",
        [...this.#rules].map(([rule, count]) => [rules[rule], count] as const),
      ),
      this.happenings(),
      ...lines("decisions, by their rules", this.#decisions()),
      ...reasons("decisions without a rule of their own, which all replies follow", withoutRule),
      ...reasons("decisions that no history draws", notDrawn),
      `errors that no history draws: ${errorsNotDrawn.join(", ")}`,
      ...this.unreached().map((name) => `not reached: ${name}`),
    ].join("\n");
  }
}
