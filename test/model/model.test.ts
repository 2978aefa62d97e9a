/**
 * Compares the server's whole interface to a model of the interface. Generated histories of requests, moves of the clock and changes of a world are
 * played on a server and on the reference of test/model/reference. The test compares every response and every webhook.
 */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testHistories } from "./play-histories.ts";
import { cited } from "./playing/coverage.ts";
import { catalogue } from "./reference/errors.ts";
import { errorsNotDrawn, notDrawn, withoutRule } from "./rules/decisions.ts";
import { rules } from "./rules/rules.ts";

const ROOT = join(import.meta.dirname, "../..");

describe("the rules of the model", () => {
  test("every decision has a rule of the model, or a reason why it has none", () => {
    const folder = join(ROOT, "spec/decisions");
    const all = readdirSync(folder).flatMap((name) =>
      [...readFileSync(join(folder, name), "utf8").matchAll(/^### (D-\d+) /gm)].map(([, one]) => one),
    );
    const known = [...new Set(Object.values(rules).flatMap(cited)), ...Object.keys(withoutRule), ...Object.keys(notDrawn)];
    expect(new Set(known)).toEqual(new Set(all.map(String)));
  });

  test("every error is one of the model's, or listed as one that no history draws", () => {
    const page = readFileSync(join(ROOT, "docs/reference/errors.md"), "utf8");
    const all = [...page.matchAll(/^\| `(\w+)` \| \d/gm)].map(([, name]) => String(name));
    expect(new Set([...Object.keys(catalogue), ...errorsNotDrawn])).toEqual(new Set(all));
  });
});

testHistories("sqlite", { histories: 20, reachesAll: false });
