/** The results of benches. The last result of each bench is a section of RESULTS.md. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "./machine.ts";
import type { Pair } from "./rounds.ts";
import { overRounds } from "./rounds.ts";
import type { Spread } from "./statistics.ts";

/** A measured value and its goal. The value of a metric is a ratio between two sides of one run, or is compared to a fixed limit. */
export interface Metric extends Spread {
  readonly name: string;
  /** The unit of the value. A ratio has no unit. */
  readonly unit?: string;
  readonly goal?: { readonly at_least: number } | { readonly at_most: number };
}

/**
 * A value for information, which is printed beside the metrics. A value for information is true only on the machine and at the moment of the
 * run.
 */
export interface Absolute extends Spread {
  readonly name: string;
  readonly unit: string;
}

export interface Result {
  readonly metrics: readonly Metric[];
  readonly absolute: readonly Absolute[];
}

export interface Bench {
  /** One sentence that says what the bench measures, and to what it compares the result. */
  readonly summary: string;
  run(options: BenchOptions): Promise<Result>;
}

interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
}

interface KeptResult extends Result {
  readonly summary: string;
  readonly command: string;
  readonly date: string;
  readonly plaza: string;
  readonly machine: Machine;
  readonly rounds: number;
  readonly seconds: number;
}

const PAGE_FILE = join(import.meta.dir, "..", "RESULTS.md");

export const isMet = ({ goal, median }: Metric): boolean | undefined =>
  goal === undefined ? undefined : "at_least" in goal ? median >= goal.at_least : median <= goal.at_most;

/** Compares Plaza to its floor, by requests per second and by the server's CPU time per request. The value 1 means the speed of the floor. */
export function againstFloor(pairs: readonly Pair[], goal: number): Result {
  return {
    metrics: [
      {
        name: "requests/s (Plaza divided by floor)",
        ...overRounds(pairs, ({ one, other }) => one.requests_per_second / other.requests_per_second),
        goal: { at_least: goal },
      },
      { name: "CPU time per request (floor divided by Plaza)", ...overRounds(pairs, ({ one, other }) => other.server_cpu_us / one.server_cpu_us) },
    ],
    absolute: absolutesOf(pairs, "Plaza", "floor"),
  };
}

export function absolutesOf(pairs: readonly Pair[], oneName: string, otherName: string): Absolute[] {
  const sides = [[oneName, "one"] as const, [otherName, "other"] as const];
  return sides.flatMap(([name, side]) => [
    { name: `${name}: requests/s`, unit: "/s", ...overRounds(pairs, (pair) => pair[side].requests_per_second) },
    { name: `${name}: server CPU time per request`, unit: "µs", ...overRounds(pairs, (pair) => pair[side].server_cpu_us) },
    { name: `${name}: client CPU time per request`, unit: "µs", ...overRounds(pairs, (pair) => pair[side].client_cpu_us) },
    { name: `${name}: p50`, unit: "ms", ...overRounds(pairs, (pair) => pair[side].p50_ms) },
    { name: `${name}: p99`, unit: "ms", ...overRounds(pairs, (pair) => pair[side].p99_ms) },
  ]);
}

const written = (value: number): string => (Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));

function writtenGoal({ goal, unit }: Metric): string {
  if (goal === undefined) return "";
  const limit = "at_least" in goal ? `≥ ${written(goal.at_least)}` : `≤ ${written(goal.at_most)}`;
  return unit === undefined ? limit : `${limit} ${unit}`;
}

export function metricLine(metric: Metric): string {
  const met = isMet(metric);
  const verdict = met === undefined ? "" : met ? "met" : "**missed**";
  const unit = metric.unit === undefined ? "" : ` ${metric.unit}`;
  return `| ${metric.name} | ${written(metric.median)}${unit} | ${written(metric.min)} | ${written(metric.max)} | ${writtenGoal(metric)} | ${verdict} |`;
}

const absoluteLine = ({ name, unit, median, min, max }: Absolute): string =>
  `| ${name} | ${written(median)} ${unit} | ${written(min)} | ${written(max)} |`;

function section(name: string, kept: KeptResult): string {
  const { machine } = kept;
  const pinned = machine.is_pinned ? "server and client each had a core of their own" : "server and client shared the cores";
  const wrk = machine.wrk === "" ? "" : `, wrk ${machine.wrk}`;
  return [
    `## ${name}`,
    kept.summary,
    "",
    "| measurement | median | min | max | goal | |",
    "|---|---|---|---|---|---|",
    ...kept.metrics.map(metricLine),
    "",
    "| for information | median | min | max |",
    "|---|---|---|---|",
    ...kept.absolute.map(absoluteLine),
    "",
    `\`${kept.command}\`, ${kept.date}, ${kept.rounds} rounds of ${kept.seconds} s; Plaza ${kept.plaza}, Bun ${machine.bun}${wrk}; ${machine.cores} × ${machine.cpu}, ${machine.memory_gb} GB, Linux ${machine.kernel}, ${pinned}.`,
  ].join("\n");
}

const HEAD = `# Results of the benches

Written by \`npm run bench\`; [README.md](README.md) explains each bench and its reference program, the floor. Ratios of
one run can be compared; the numbers for information depend on the machine and its load.`;

/** Replaces the section of this bench in RESULTS.md. The sections of other benches stay. `order` is the order of the benches on the page. */
export function keep(name: string, result: KeptResult, order: readonly string[]): void {
  const page = existsSync(PAGE_FILE) ? readFileSync(PAGE_FILE, "utf8") : "";
  const before = page.split(/^(?=## )/m).map((text) => [/^## (.+)$/m.exec(text)?.[1], text.trim()] as const);
  const sections = new Map([...before, [name, section(name, result)]]);
  writeFileSync(PAGE_FILE, `${[HEAD, ...order.flatMap((one) => sections.get(one) ?? [])].join("\n\n")}\n`);
}
