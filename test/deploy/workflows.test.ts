/**
 * Checks that the workflows have the form that GitHub reads, and do only what a public repository may do. actionlint, which is not on npm, checks
 * more; docs/dependencies.md says how to run it.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { scripts } from "#package.json";

const ROOT = join(import.meta.dir, "../..");
const WORKFLOWS = ".github/workflows";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly steps: readonly Step[];
  readonly needs?: string;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
}

interface Workflow {
  readonly name: string;
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** The keys of GitHub's workflow syntax at each level, as far as a workflow here may need them. */
const KEYS = {
  workflow: ["name", "on", "permissions", "concurrency", "env", "defaults", "jobs"],
  job: [
    "name",
    "needs",
    "if",
    "runs-on",
    "environment",
    "permissions",
    "timeout-minutes",
    "strategy",
    "container",
    "services",
    "env",
    "outputs",
    "steps",
  ],
  step: ["name", "id", "if", "uses", "with", "run", "env", "shell", "working-directory", "continue-on-error", "timeout-minutes"],
};

const files = readdirSync(join(ROOT, WORKFLOWS));
const workflows = files.map((file) => ({ file, workflow: parse(readFileSync(join(ROOT, WORKFLOWS, file), "utf8")) as Workflow }));
const job = (file: string, name: string): Job => workflows.find((one) => one.file === file)?.workflow.jobs[name] as Job;

describe.each(workflows)("$file", ({ workflow }) => {
  const jobs = Object.entries(workflow.jobs);
  const steps = jobs.flatMap(([, { steps: of }]) => of);

  test("it is a valid workflow", () => {
    expect(KEYS.workflow).toEqual(expect.arrayContaining(Object.keys(workflow)));
    for (const [, one] of jobs) {
      expect(KEYS.job).toEqual(expect.arrayContaining(Object.keys(one)));
      if (one.needs !== undefined) expect(Object.keys(workflow.jobs)).toContain(one.needs);
    }
    for (const step of steps) {
      expect(KEYS.step).toEqual(expect.arrayContaining(Object.keys(step)));
      expect((step.uses === undefined) !== (step.run === undefined)).toBeTrue();
    }
  });

  test("it can only read unless a job says otherwise, leaves no token behind, and ends", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    for (const [, one] of jobs) expect(one["timeout-minutes"]).toBeGreaterThan(0);
    for (const { uses, with: given } of steps) {
      if (uses !== undefined) expect(uses).toMatch(/^actions\/[a-z-]+@v\d+$/);
      if (uses?.startsWith("actions/checkout@") === true) expect(given).toEqual({ "persist-credentials": false });
    }
  });

  test("its actions exist, and no text of others becomes part of a command", () => {
    for (const { run = "" } of steps) {
      expect(run).not.toContain("${{");
      for (const [, script = ""] of run.matchAll(/npm run (?:--\S+ )*([\w-]+)/g)) expect(Object.keys(scripts)).toContain(script);
      for (const [path] of run.matchAll(/\.ci\/\w+/g)) expect(existsSync(join(ROOT, path))).toBeTrue();
    }
  });
});

test("changes are checked on each supported Node, by the project's own script", () => {
  const { strategy, steps } = job("checks.yml", "checks");
  const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { engines: { node: string } };
  const versions = strategy?.matrix.node as number[];
  expect(`>=${Math.min(...versions)}`).toBe(engines.node);
  expect(versions).toHaveLength(3);
  expect(steps.at(-1)).toEqual({ run: "bash .ci/run" });
});

test("a release is made from a tag that passed the checks, with a provenance and without a stored token", () => {
  const { workflow } = workflows.find(({ file }) => file === "release.yml") as (typeof workflows)[number];
  expect(workflow.on).toEqual({ push: { tags: [expect.stringMatching(/^v/)] } });
  const { needs, permissions, steps } = job("release.yml", "package");
  expect(needs).toBe("checks");
  expect(permissions).toMatchObject({ "id-token": "write", attestations: "write" });
  expect(steps.some(({ uses }) => uses?.startsWith("actions/attest-build-provenance@"))).toBeTrue();
  expect(steps.some(({ run }) => run?.includes("npm publish") === true && run.includes("--provenance"))).toBeTrue();
  expect(readFileSync(join(ROOT, WORKFLOWS, "release.yml"), "utf8")).not.toContain("secrets.");
});

test("updates are proposed for every kind of dependency, in existing folders", () => {
  const { version, updates } = parse(readFileSync(join(ROOT, ".github/dependabot.yml"), "utf8"));
  expect(version).toBe(2);
  expect(updates.map((one: Record<string, string>) => one["package-ecosystem"])).toEqual(["npm", "github-actions", "docker"]);
  for (const { directory } of updates) expect(existsSync(join(ROOT, directory))).toBeTrue();
});
