/** Clauses and decisions are for those who change Plaza: they stay in code, tests and `spec/`. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** `D-51`, `LIVE-13`, `A5-2`, and `(H7)`. Names of standards look alike. */
const CODE = /\bD-\d+\b|\b(?!UTF-|SHA-|AES-|RFC-|CEA-|HMAC-|BSD-|GPL-|MPL-)[A-Z]+\d?-\d+[a-z]?\b|\([A-I]\d\)/g;

for (const page of ["README.md", "CHANGELOG.md", "SECURITY.md", ...new Bun.Glob("docs/**/*.md").scanSync(ROOT)].sort())
  test(`${page} cites no clause and no decision`, () => expect(readFileSync(join(ROOT, page), "utf8").match(CODE)).toBeNull());
