/**
 * disk-full.test.ts runs this file as another process, under a limit on the size of files. The program writes groups until some writes are refused;
 * then the limit is lifted, and the program writes once more. The program prints the acknowledged and the refused writes.
 */
import { execFileSync } from "node:child_process";
import { GraphError } from "#kernel/errors";
import type { Transaction } from "#storage/database";
import { sql } from "#storage/sql";
import { openSqlite } from "#storage/sqlite/open";
import { notes } from "./stores.ts";

const database = await openSqlite({ folder: process.argv[2] as string, migrations: [notes] });
const responded: number[] = [];
const refusals: Record<string, number> = {};
/** The ids that were announced as changed, and the ids for whose write an action ran after the commit. */
const announced: number[] = [];
const acted: number[] = [];
database.onInvalidate((_kind, key) => announced.push(Number(key)));
let next = 0;

async function insert(tx: Transaction, id: number, text: string): Promise<void> {
  tx.invalidate("note", String(id));
  tx.afterCommit(() => acted.push(id));
  await tx.runOne(sql`INSERT INTO notes (id, list, text) VALUES (${id}, ${"a"}, ${text})`);
}

async function writeGroup(responses: number[], texts: string): Promise<number> {
  let refused = 0;
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      const id = next++;
      try {
        await database.write((tx) => insert(tx, id, texts));
        responses.push(id);
      } catch (error) {
        refused++;
        const name = error instanceof GraphError ? error.errorName : String(error);
        refusals[name] = (refusals[name] ?? 0) + 1;
      }
    }),
  );
  return refused;
}

let groupsRefused = 0;
for (let group = 0; group < 200 && groupsRefused < 3; group++) {
  const refused = await writeGroup(responded, "x".repeat(2_000));
  // Small groups fit into the page cache of the database, so the commit fails, and all writes of the group fail with it.
  if (refused !== 0 && refused !== 50) throw new Error(`${refused} of a group of 50 were refused`);
  if (refused > 0) groupsRefused++;
  const row = await database.reader.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM notes`);
  if (row?.count !== responded.length) throw new Error(`${row?.count} rows are stored, ${responded.length} writes were acknowledged`);
}
if (groupsRefused < 3) throw new Error("no write reached the limit");
// One write is larger than the page cache, so that a statement in the middle of the group fails.
const sizes = [1, 5_000, 1];
await Promise.allSettled(
  sizes.map((rows) => {
    const first = next;
    next += rows;
    const ids = Array.from({ length: rows }, (_, index) => first + index);
    return database
      .write(async (tx) => {
        for (const id of ids) await insert(tx, id, "z".repeat(3_000));
      })
      .then(
        () => responded.push(...ids),
        (error) => {
          if (!(error instanceof GraphError)) throw error;
        },
      );
  }),
);
execFileSync("prlimit", [`--pid=${process.pid}`, "--fsize=unlimited:unlimited"]);
const afterwards: number[] = [];
await writeGroup(afterwards, "y");
await database.close();
process.stdout.write(JSON.stringify({ responded, refusals, afterwards, announced, acted }));
