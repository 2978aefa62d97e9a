/**
 * Runs the program with a made-up feature of a later release, which the variable `LATER_RELEASE` selects. The second release adds a column to a table
 * that the first one writes, and fills the column. The third release removes a column that only the first one uses. With `LATER_ENDLESS` the second
 * release fills the column again and again, as if the table had very many rows.
 */
import { features } from "#features";
import { defineFeature } from "#graph/contract/feature";
import type { Migration } from "#storage/database";

const unfilled = process.env.LATER_ENDLESS === "1" ? "l.page > 0" : "l.priority IS NULL";

const second: readonly Migration[] = [
  {
    name: "priority",
    statements: ["CREATE TABLE later_things (id BIGINT PRIMARY KEY) WITHOUT ROWID", "ALTER TABLE labels ADD COLUMN priority BIGINT"],
  },
  {
    name: "priority_filled",
    statements: [],
    batch: `UPDATE labels SET priority = 0 WHERE (page, id) IN (SELECT l.page, l.id FROM labels l WHERE ${unfilled} LIMIT ?)`,
  },
];

const third: readonly Migration[] = [{ name: "things_gone", statements: ["DROP TABLE later_things"], contracts: "later/priority" }];

const migrations = process.env.LATER_RELEASE === "3" ? [...second, ...third] : second;
(features as (typeof features)[number][]).push(defineFeature({ name: "later", migrations, nodeTypes: [], operations: [] }));

await import("#cli/plaza");
