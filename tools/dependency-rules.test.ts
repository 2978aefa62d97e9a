/** Checks that each dependency rule finds a violation in a made-up server that breaks every rule once. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, featureCircles, ruleNames } from "./dependency-rules.ts";
import { ROOT } from "./steps.ts";

/** The imports of each file, by the file's path. An import that begins with `type ` imports types. */
const deps: Readonly<Record<string, readonly string[]>> = {
  "src/kernel/words.ts": ["node:fs", "#storage/sql"],
  "src/kernel/alone.ts": [],
  "src/storage/sql.ts": ["#auth/token"],
  "src/storage/open.ts": ["./sqlite/driver.ts", "./postgres/driver.ts"],
  "src/storage/sqlite/driver.ts": ["bun:sqlite"],
  "src/storage/postgres/driver.ts": ["pg"],
  "src/auth/token.ts": ["#graph/pipeline/handle-request"],
  "src/auth/policy.ts": ["#kernel/alone"],
  "src/jobs/loop.ts": ["#webhooks/outbox"],
  "src/outbound/client.ts": ["#webhooks/outbox"],
  "src/webhooks/outbox.ts": ["#outbound/client", "#graph/pipeline/handle-request", "#system"],
  "src/graph/pipeline/handle-request.ts": ["#features/labels", "pg", "bun:sqlite", "node:http", "#storage/sqlite/driver", "#main", "#cli/plaza"],
  "src/graph/contract/operation.ts": ["#kernel/alone", "bun"],
  "src/graph/dead.ts": [],
  "src/graph/one.ts": ["./two.ts"],
  "src/graph/two.ts": ["./one.ts"],
  "src/graph/three.ts": ["type ./four.ts"],
  "src/graph/four.ts": ["./three.ts"],
  "src/control-contract/route.ts": ["#features/labels"],
  "src/features/labels/index.ts": ["./labels.contract.ts", "../people/people.store.ts", "#features/people/api", "#surfaces/surfaces"],
  "src/features/labels/labels.contract.ts": [
    "#graph/contract/operation",
    "#auth/policy",
    "typebox",
    "#graph/pipeline/handle-request",
    "./labels.store.ts",
    "./labels.handlers.ts",
  ],
  "src/features/labels/labels.handlers.ts": [],
  "src/features/labels/labels.store.ts": ["fast-check", "undeclared", "#kernel/nothing"],
  "src/features/people/people.store.ts": [],
  "src/features/people/people.handlers.ts": [],
  "src/features/people/people.api.ts": [],
  "src/features/people/people.policies.ts": ["#features/labels/api"],
  "src/features/labels/labels.api.ts": [],
  "src/surfaces/surfaces.ts": ["#http/server"],
  "src/telemetry/log.ts": ["#http/server"],
  "src/config/read.ts": ["#http/server"],
  "src/http/http1/head.ts": ["#kernel/alone", "../server.ts"],
  "src/http/server.ts": ["#control/api", "#features/labels", "node:http", "#harness/plaza", "../features/people/people.store.ts"],
  "src/recordings/recording-space.ts": ["#storage/sql"],
  "src/ingest/listener.ts": ["#http/server"],
  "src/control/api.ts": ["hono", "#http/server", "#features/labels", "#control-contract/route"],
  "src/system.ts": ["#kernel/alone", "#storage/sql", "../conformance/cases.ts"],
  "src/main.ts": [
    "#http/server",
    "#config/read",
    "#telemetry/log",
    "#storage/open",
    "#jobs/loop",
    "#ingest/listener",
    "#kernel/words",
    "#system",
    "./graph/one.ts",
    "./graph/four.ts",
  ],
  "src/cli/plaza.ts": ["#main"],
  "test/harness/plaza.ts": ["../../src/features/people/people.handlers.ts"],
  "test/model/playing/play.ts": ["../../../src/kernel/alone.ts"],
  "test/model/reference/model.ts": ["../playing/play.ts"],
  "conformance/run.ts": ["../test/harness/plaza.ts"],
  "conformance/cases.ts": ["../src/kernel/alone.ts"],
  "clients/testing/index.ts": ["#kernel/alone"],
  "src/cli/storm.ts": ["#workbench/command"],
  "workbench/command.ts": ["#kernel/alone"],
  "clients/typescript/src/index.ts": ["node:fs"],
};

const root = mkdtempSync(join(tmpdir(), "plaza-rules-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const textOf = (imports: readonly string[]): string =>
  imports.map((name) => (name.startsWith("type ") ? `import type {} from "${name.slice(5)}";` : `import "${name}";`)).join("\n");

for (const [path, imports] of Object.entries(deps)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `${textOf(imports)}\nexport const here = "${path}";\n`);
}
for (const name of ["package.json", "tsconfig.json"]) writeFileSync(join(root, name), readFileSync(join(ROOT, name)));
for (const name of ["pg", "hono", "typebox", "fast-check", "undeclared"]) {
  const folder = join(root, "node_modules", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version: "1.0.0", main: "index.js" }));
  writeFileSync(join(folder, "index.js"), "");
}

const { modules, summary } = cruise(root);
const { violations } = summary;
const found = violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);

test("each rule finds the server's one mistake of its kind", () => {
  const broken = new Set(violations.map(({ rule }) => rule.name));
  expect(ruleNames.filter((name) => !broken.has(name))).toEqual([]);
});

test("allowed imports are not reported", () => {
  const allowed = [
    "graph/contract/operation.ts → src/kernel",
    "labels.contract.ts → src/graph/contract/operation.ts",
    "labels.contract.ts → src/auth/policy.ts",
    "labels.contract.ts → node_modules/typebox",
    "labels/index.ts → src/features/people/people.api.ts",
    "src/storage/sqlite/driver.ts → bun:sqlite",
    "src/http/http1/head.ts → src/kernel/alone.ts",
    "src/http/server.ts → src/features/labels",
    "src/http/server.ts → http",
    "src/control/api.ts → node_modules/hono",
    "src/control/api.ts → src/control-contract",
    "src/main.ts →",
  ];
  expect(found.filter((text) => allowed.some((part) => text.includes(part)) && !/^(nothing-unreachable|nothing-circular)/.test(text))).toEqual([]);
});

test("the control API knows no feature: the registry gives it their routes", () => {
  expect(found).toContain("floor-control: src/control/api.ts → src/features/labels/index.ts");
});

test("a circle is found, at run time and through types only", () => {
  const circles = found.filter((text) => text.startsWith("nothing-circular"));
  expect(circles.some((text) => text.includes("one.ts"))).toBe(true);
  expect(circles.some((text) => text.includes("three.ts"))).toBe(true);
});

test("features that import each other are found, except in tests", () => {
  expect(new Set(featureCircles(modules))).toEqual(new Set(["labels → people → labels", "people → labels → people"]));
  const module = (source: string, ...resolved: string[]) => ({ source, dependencies: resolved.map((one) => ({ resolved: one })) });
  const back = "src/features/people/people.test.ts";
  expect(
    featureCircles([module("src/features/labels/index.ts", "src/features/people/people.api.ts"), module(back, "src/features/labels/index.ts")]),
  ).toEqual([]);
});
