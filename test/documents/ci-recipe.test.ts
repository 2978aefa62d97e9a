import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { examplesOf } from "./examples.ts";

const PAGE = "docs/recipes/ci.md";

test("the workflow of the CI recipe runs the command that its page runs", () => {
  const text = readFileSync(join(import.meta.dir, "../..", PAGE), "utf8");
  const workflow = Bun.YAML.parse(/```yaml\n([\s\S]*?)```/.exec(text)?.[1] as string) as { jobs: { test: { steps: { run?: string }[] } } };
  const commands = examplesOf(PAGE).flatMap((example) => ("script" in example ? [example.script.trim()] : []));
  expect(commands).toContain(workflow.jobs.test.steps.findLast(({ run }) => run !== undefined)?.run as string);
});
