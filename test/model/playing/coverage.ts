/** What histories have reached of the model: operations, errors, and the rules of decisions. */

import { catalogue, type ErrorName } from "../reference/errors.ts";
import { operations } from "../reference/reply.ts";
import { type Rule, rules } from "../reference/rules.ts";

const lines = (title: string, counts: Iterable<readonly [string, number]>): string[] => [
  title,
  ...[...counts].map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`),
];

export class Coverage {
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

  /** Anything that happens beside a single request, and where. */
  readonly happens = (what: string): void => void this.#steps.set(what, (this.#steps.get(what) ?? 0) + 1);

  /** What no history reached. */
  unreached(): string[] {
    return [
      ...operations.filter(({ name }) => !this.#operations.has(name)).map(({ name }) => `operation ${name}`),
      ...Object.keys(catalogue)
        .filter((error) => !this.#errors.has(error))
        .map((error) => `error ${error}`),
      ...(Object.keys(rules) as Rule[]).filter((rule) => !this.#rules.has(rule)).map((rule) => rules[rule]),
    ];
  }

  /** Beside requests: moves of the clock, restarts, exports, what people and operators do; in which worlds and profiles. */
  happenings(): string {
    return lines("what happened", this.#steps).join("\n");
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
      ...this.unreached().map((name) => `not reached: ${name}`),
    ].join("\n");
  }
}
