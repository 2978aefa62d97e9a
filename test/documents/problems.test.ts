/** D-341: checks the table of problems in docs/deploying.md, which an operator reads at night. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { problemKinds } from "#storage/database-health";

test("D-341: each problem of the database that Plaza can report has one row, with its meaning and what to do, and no other has", () => {
  const [, section = ""] = readFileSync(new URL("../../docs/deploying.md", import.meta.url), "utf8").split("\n## Problems\n");
  const rows = section.split("\n").filter((line) => /^\| `[a-z_]+`/.test(line));
  const named = rows.map((row) => /^\| `([a-z_]+)`/.exec(row)?.[1]);
  // order: the table has the problems of PostgreSQL first; the code has another order.
  expect(named.toSorted()).toEqual([...problemKinds].toSorted());
  for (const row of rows) expect(row.split(" | ").filter((cell) => cell.trim().length > 5)).toHaveLength(3);
});
