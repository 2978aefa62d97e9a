/**
 * The floor of the bench `feed`: Plaza's time for a feed is compared to this program's time. The floor parses the rows of a file with the same
 * package as Plaza, and inserts them with a prepared statement in large durable transactions. The floor does not check values, write a report or
 * store the file, and serves no other client while it inserts rows.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import Papa from "papaparse";

const [folder = "", given = "null"] = Bun.argv.slice(2);
const { file } = JSON.parse(given) as { file: string };
const ROWS_PER_INSERT = 100;
const ROWS_PER_TRANSACTION = 10_000;

const database = new Database(join(folder, "floor.sqlite"));
for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "cache_size = -4000", "wal_autocheckpoint = 4000"])
  database.run(`PRAGMA ${pragma}`);
database.run("CREATE TABLE items (feed BIGINT, id BIGINT, retailer_id TEXT, item TEXT, PRIMARY KEY (feed, id)) WITHOUT ROWID");
database.run("CREATE UNIQUE INDEX items_by_retailer_id ON items (feed, retailer_id)");
const insert = database.prepare(`INSERT INTO items VALUES ${new Array(ROWS_PER_INSERT).fill("(8101, ?, ?, ?)").join(", ")}`);
const insertOne = database.prepare("INSERT INTO items VALUES (8101, ?, ?, ?)");

async function ingest(): Promise<number> {
  let columns: readonly string[] | undefined;
  let rows = 0;
  let values: (string | number)[] = [];
  database.run("BEGIN IMMEDIATE");
  const take = (row: readonly string[]): void => {
    if (columns === undefined) {
      columns = row;
      return;
    }
    const item: Record<string, string | undefined> = {};
    for (let at = 1; at < columns.length; at++) item[columns[at] as string] = row[at];
    values.push(++rows, row[0] as string, JSON.stringify(item));
    if (values.length < 3 * ROWS_PER_INSERT) return;
    insert.run(...values);
    values = [];
    if (rows % ROWS_PER_TRANSACTION > 0) return;
    database.run("COMMIT");
    database.run("BEGIN IMMEDIATE");
  };
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of Bun.file(file).stream()) {
    text += decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf("\n");
    if (end === -1) continue;
    for (const row of Papa.parse(text.slice(0, end), { delimiter: ",", newline: "\n" }).data) take(row);
    text = text.slice(end + 1);
  }
  for (let at = 0; at < values.length; at += 3) insertOne.run(...values.slice(at, at + 3));
  database.run("COMMIT");
  return rows;
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch() {
    const startMs = performance.now();
    const rows = await ingest();
    return Response.json({ rows, seconds: (performance.now() - startMs) / 1_000 });
  },
});
console.log(JSON.stringify({ ready: true, base_url: server.url.origin, pid: process.pid }));
