/**
 * The floor of the bench `read`: reads the token, the page and five of the page's personas with three prepared queries, and joins strings to a
 * response.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { PAGE, personas, TOKEN } from "../harness/data.ts";

const [folder = "", count] = Bun.argv.slice(2);
const database = new Database(join(folder, "floor.sqlite"));
database.run("PRAGMA journal_mode = WAL");
database.run("CREATE TABLE tokens (token TEXT PRIMARY KEY, page BIGINT) WITHOUT ROWID");
database.run("CREATE TABLE nodes (id BIGINT PRIMARY KEY, type TEXT) WITHOUT ROWID");
database.run("CREATE TABLE personas (page BIGINT, id BIGINT, name TEXT, url TEXT, PRIMARY KEY (page, id)) WITHOUT ROWID");
database.transaction(() => {
  database.run("INSERT INTO tokens VALUES (?, ?)", [TOKEN, PAGE]);
  database.run("INSERT INTO nodes VALUES (?, 'page')", [PAGE]);
  const insert = database.prepare("INSERT INTO personas VALUES (?, ?, ?, ?)");
  for (const { page, id, name, profile_picture_url } of personas(Number(count))) insert.run(page, id, name, profile_picture_url);
})();

interface Row {
  id: string;
  name: string;
  url: string;
}
const token = database.prepare<{ page: number }, [string]>("SELECT page FROM tokens WHERE token = ?");
const node = database.prepare<{ type: string }, [string]>("SELECT type FROM nodes WHERE id = ?");
// The query has `+?` in place of `?`: with ORDER BY, SQLite plans a statement again whenever a bare parameter is bound, which takes 3 µs.
const list = database.prepare<Row, [string]>(
  "SELECT CAST(p.id AS TEXT) AS id, p.name, p.url FROM personas p WHERE p.page = +? ORDER BY p.id DESC LIMIT 6",
);
const headers = { "content-type": "application/json; charset=UTF-8" };
const cursorOf = (row: Row): string => `__________________${row.id}`;

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    const path = url.indexOf("/", 7);
    const id = url.slice(path + 7, url.indexOf("/", path + 7));
    const credential = url.indexOf("access_token=") + 13;
    if (token.get(url.slice(credential, url.indexOf("&", credential))) === null || node.get(id) === null) return new Response(null, { status: 400 });
    const rows = list.all(id);
    let data = "";
    for (let i = 0; i < 5; i++) {
      const row = rows[i] as Row;
      data += `${i === 0 ? "" : ","}{"id":"${row.id}","name":"${row.name}","profile_picture_url":"${row.url}"}`;
    }
    const after = cursorOf(rows[4] as Row);
    const paging = `{"cursors":{"before":"${cursorOf(rows[0] as Row)}","after":"${after}"},"next":"${url}&after=${after}"}`;
    return new Response(`{"data":[${data}],"paging":${paging}}`, { headers });
  },
});
console.log(JSON.stringify({ ready: true, base_url: server.url.origin, pid: process.pid }));
