/** Checks that clauses and decisions are only cited in code, tests and `spec/`, because they are for people who change Plaza. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** The expression matches `D-51`, `LIVE-13`, `A5-2` and `(H7)`, but not the names of standards that look similar. */
const CODE = /\bD-\d+\b|\b(?!UTF-|SHA-|AES-|RFC-|CEA-|HMAC-|BSD-|GPL-|MPL-)[A-Z]+\d?-\d+[a-z]?\b|\([A-I]\d\)/g;

for (const page of ["README.md", "CHANGELOG.md", "SECURITY.md", ...new Bun.Glob("docs/**/*.md").scanSync(ROOT)].sort())
  test(`${page} cites no clause and no decision`, () => expect(readFileSync(join(ROOT, page), "utf8").match(CODE)).toBeNull());
