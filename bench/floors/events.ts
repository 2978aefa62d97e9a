/**
 * The floor of the benches `events-1` and `events-50`. The floor writes the rows of Plaza's event log with one prepared insert. Requests that arrive
 * in the same turn of the event loop share a durable commit. The floor does not check events, look for duplicates, or store names and sums.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { APP } from "../harness/data.ts";

const [folder = ""] = Bun.argv.slice(2);
const database = new Database(join(folder, "floor.sqlite"));
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");
database.run(`CREATE TABLE app_events (
  app BIGINT, request BIGINT, position INTEGER, received BIGINT, time BIGINT, name TEXT, event_id TEXT, value BIGINT, currency TEXT, parameters TEXT,
  tracking INTEGER, device TEXT, PRIMARY KEY (app, request, position)) WITHOUT ROWID`);
const [begin, commit] = ["BEGIN IMMEDIATE", "COMMIT"].map((text) => database.prepare(text));
const insert = database.prepare("INSERT INTO app_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
const headers = { "content-type": "application/json; charset=UTF-8" };

interface Body {
  readonly advertiser_id: string;
  readonly custom_events: readonly { _eventName: string; event_id: string; _valueToSum?: number; pf_currency?: string }[];
}

let waiting: { readonly body: Body; response(response: Response): void }[] = [];
let requests = 0;

function commitAll(): void {
  const group = waiting;
  waiting = [];
  const now = Math.floor(Date.now() / 1000);
  begin?.run();
  for (const { body } of group) {
    const request = ++requests;
    let position = 0;
    for (const { _eventName, event_id, _valueToSum, ...parameters } of body.custom_events) {
      const value = _valueToSum === undefined ? null : Math.round(_valueToSum * 1e6);
      const device = position === 0 ? JSON.stringify({ advertiser_id: body.advertiser_id }) : null;
      const text = JSON.stringify(parameters);
      insert.run(APP, request, position++, now, now, _eventName, event_id, value, parameters.pf_currency ?? "", text, 1, device);
    }
  }
  commit?.run();
  for (const { response } of group) response(new Response('{"success":true}', { headers }));
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const body = (await request.json()) as Body;
    return new Promise<Response>((response) => {
      if (waiting.push({ body, response }) === 1) setImmediate(commitAll);
    });
  },
});
console.log(JSON.stringify({ ready: true, base_url: server.url.origin, pid: process.pid }));
