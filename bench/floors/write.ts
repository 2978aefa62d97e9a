/**
 * The floor of the bench `write`: runs one prepared insert in a savepoint. Requests that arrive in one turn of the event loop share a durable commit.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { idOf, LABEL_IDS, PAGE } from "../harness/data.ts";

const [folder = ""] = Bun.argv.slice(2);
const database = new Database(join(folder, "floor.sqlite"));
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");
database.run("CREATE TABLE labels (page BIGINT, id BIGINT, name TEXT, PRIMARY KEY (page, id)) WITHOUT ROWID");
database.run("CREATE UNIQUE INDEX labels_by_name ON labels (page, name)");
const [begin, commit, savepoint, release] = ["BEGIN IMMEDIATE", "COMMIT", "SAVEPOINT one", "RELEASE one"].map((text) => database.prepare(text));
const insert = database.prepare("INSERT INTO labels VALUES (?, ?, ?)");
const headers = { "content-type": "application/json; charset=UTF-8" };

let waiting: { readonly name: string; response(response: Response): void }[] = [];
let minted = 0;

function commitAll(): void {
  const group = waiting;
  waiting = [];
  const ids: string[] = [];
  begin?.run();
  for (const { name } of group) {
    const id = idOf(LABEL_IDS, minted++);
    savepoint?.run();
    insert.run(PAGE, id, name);
    release?.run();
    ids.push(id);
  }
  commit?.run();
  for (const [i, { name, response }] of group.entries()) response(new Response(`{"id":"${ids[i]}","name":"${name}"}`, { headers }));
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { page_label_name: name } = (await request.json()) as { page_label_name: string };
    return new Promise<Response>((response) => {
      if (waiting.push({ name, response }) === 1) setImmediate(commitAll);
    });
  },
});
console.log(JSON.stringify({ ready: true, base_url: server.url.origin, pid: process.pid }));
