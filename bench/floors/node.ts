/** The floor of the bench `node`: reads the token and the label with two prepared queries. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { labels, PAGE, TOKEN } from "../harness/data.ts";

const [folder = "", count] = Bun.argv.slice(2);
const database = new Database(join(folder, "floor.sqlite"));
database.run("PRAGMA journal_mode = WAL");
database.run("CREATE TABLE tokens (token TEXT PRIMARY KEY, page BIGINT) WITHOUT ROWID");
database.run("CREATE TABLE labels (id BIGINT PRIMARY KEY, page BIGINT, name TEXT) WITHOUT ROWID");
database.transaction(() => {
  database.run("INSERT INTO tokens VALUES (?, ?)", [TOKEN, PAGE]);
  const insert = database.prepare("INSERT INTO labels VALUES (?, ?, ?)");
  for (const { id, page, name } of labels(Number(count))) insert.run(id, page, name);
})();

const token = database.prepare<{ page: number }, [string]>("SELECT page FROM tokens WHERE token = ?");
const label = database.prepare<{ page: number; name: string }, [string]>("SELECT page, name FROM labels WHERE id = ?");
const headers = { "content-type": "application/json; charset=UTF-8" };

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    const path = url.indexOf("/", 7);
    const id = url.slice(path + 7, url.indexOf("?", path + 7));
    const credential = url.indexOf("access_token=") + 13;
    const caller = token.get(url.slice(credential, url.indexOf("&", credential)));
    const found = label.get(id);
    if (caller === null || found === null || caller.page !== found.page) return new Response(null, { status: 400 });
    return new Response(`{"id":"${id}","page_label_name":"${found.name}"}`, { headers });
  },
});
console.log(JSON.stringify({ ready: true, base_url: server.url.origin, pid: process.pid }));
