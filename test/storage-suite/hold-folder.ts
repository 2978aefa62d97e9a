/** folder.test.ts runs this file as another process: it opens the folder, writes one row, prints a line, and waits to be killed. */
import { sql } from "#storage/sql";
import { openSqlite } from "#storage/sqlite/open";
import { notes } from "./stores.ts";

const database = await openSqlite({ folder: process.argv[2] as string, migrations: [notes] });
await database.write((tx) => tx.run(sql`INSERT INTO notes (id, list) VALUES (${1}, ${"a"})`));
console.log("held");
setInterval(() => {}, 1_000);
