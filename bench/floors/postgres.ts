/**
 * The floors of the benches `read`, `node`, `write` and `events` on PostgreSQL. The floors on PostgreSQL use the same prepared statements as the
 * floors on SQLite, pipelined on as many connections as Plaza has. Each label is inserted by a statement of its own. Events that arrive in one
 * turn of the event loop share a transaction.
 */
import { Client } from "pg";
import { APP, idOf, LABEL_IDS, labels, PAGE, personas, TOKEN } from "../harness/data.ts";

const [, given = ""] = Bun.argv.slice(2);
const { url, personaCount, labelCount } = JSON.parse(given) as { url: string; personaCount: number; labelCount: number };
const CONNECTIONS = 8;
const clients = await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    const client = new Client({ connectionString: url, pipeline: true });
    await client.connect();
    return client;
  }),
);
let turn = 0;
const next = (): Client => clients[turn++ % CONNECTIONS] as Client;
const query = async <R>(client: Client, name: string, text: string, values: unknown[]): Promise<R[]> =>
  (await client.query({ name, text, values })).rows as R[];

const first = clients[0] as Client;
await first.query(`
  CREATE TABLE tokens (token TEXT PRIMARY KEY, page BIGINT);
  CREATE TABLE personas (page BIGINT, id BIGINT, name TEXT, url TEXT, PRIMARY KEY (page, id));
  CREATE TABLE labels (page BIGINT, id BIGINT PRIMARY KEY, name TEXT);
  CREATE UNIQUE INDEX labels_by_name ON labels (page, name);
  CREATE TABLE app_events (app BIGINT, request BIGINT, position INTEGER, received BIGINT, time BIGINT, name TEXT, event_id TEXT, value BIGINT,
    currency TEXT, parameters TEXT, tracking INTEGER, device TEXT, PRIMARY KEY (app, request, position))`);
await first.query("INSERT INTO tokens VALUES ($1, $2)", [TOKEN, PAGE]);
/** Inserts all rows with one statement, which gets an array for each column. */
async function insertAll(into: string, types: readonly string[], rows: readonly (readonly string[])[]): Promise<void> {
  const columns = types.map((_, at) => rows.map((row) => row[at]));
  await first.query(`INSERT INTO ${into} SELECT * FROM unnest(${types.map((type, at) => `$${at + 1}::${type}[]`).join()})`, columns);
}
const personaRows = [...personas(personaCount)].map(({ page, id, name, profile_picture_url }) => [page, id, name, profile_picture_url]);
await insertAll("personas", ["bigint", "bigint", "text", "text"], personaRows);
const labelRows = [...labels(labelCount)].map(({ page, id, name }) => [page, id, name]);
await insertAll("labels", ["bigint", "bigint", "text"], labelRows);
await first.query("ANALYZE");

const headers = { "content-type": "application/json; charset=UTF-8" };
const json = (text: string): Response => new Response(text, { headers });
const TOKEN_OF = "SELECT page FROM tokens WHERE token = $1";

interface Row {
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

async function listPersonas(address: string, page: string, token: string): Promise<Response> {
  const client = next();
  const [callers, rows] = await Promise.all([
    query(client, "token", TOKEN_OF, [token]),
    query<Row>(client, "list", "SELECT id, name, url FROM personas WHERE page = $1 ORDER BY id DESC LIMIT 6", [page]),
  ]);
  if (callers.length === 0) return new Response(null, { status: 400 });
  const data = rows.slice(0, 5).map(({ id, name, url }) => `{"id":"${id}","name":"${name}","profile_picture_url":"${url}"}`);
  const cursorOf = (row: Row | undefined): string => `__________________${row?.id}`;
  const paging = `{"cursors":{"before":"${cursorOf(rows[0])}","after":"${cursorOf(rows[4])}"},"next":"${address}&after=${cursorOf(rows[4])}"}`;
  return json(`{"data":[${data.join()}],"paging":${paging}}`);
}

async function readLabel(id: string, token: string): Promise<Response> {
  const client = next();
  const [[caller], [found]] = await Promise.all([
    query<{ page: string }>(client, "token", TOKEN_OF, [token]),
    query<{ page: string; name: string }>(client, "label", "SELECT page, name FROM labels WHERE id = $1", [id]),
  ]);
  if (caller === undefined || caller.page !== found?.page) return new Response(null, { status: 400 });
  return json(`{"id":"${id}","page_label_name":"${found.name}"}`);
}

let minted = labelCount;
async function createLabel(request: Request): Promise<Response> {
  const { page_label_name: name } = (await request.json()) as { page_label_name: string };
  const id = idOf(LABEL_IDS, minted++);
  await query(next(), "create", "INSERT INTO labels VALUES ($1, $2, $3)", [PAGE, id, name]);
  return json(`{"id":"${id}","name":"${name}"}`);
}

interface Body {
  readonly advertiser_id: string;
  readonly custom_events: readonly { _eventName: string; event_id: string; _valueToSum?: number; pf_currency?: string }[];
}
let waiting: { readonly body: Body; respond(response: Response): void }[] = [];
let requests = 0;

async function commitEvents(): Promise<void> {
  const group = waiting;
  waiting = [];
  const now = Math.floor(Date.now() / 1000);
  const client = next();
  const rows = group.flatMap(({ body }) => {
    const request = ++requests;
    return body.custom_events.map(({ _eventName, event_id, _valueToSum, ...parameters }, position) => [
      ...[APP, request, position, now, now, _eventName, event_id, _valueToSum === undefined ? null : Math.round(_valueToSum * 1e6)],
      ...[parameters.pf_currency ?? "", JSON.stringify(parameters), 1, position === 0 ? JSON.stringify({ advertiser_id: body.advertiser_id }) : null],
    ]);
  });
  const INSERT = "INSERT INTO app_events VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
  await Promise.all([client.query("BEGIN"), ...rows.map((values) => query(client, "event", INSERT, values)), client.query("COMMIT")]);
  for (const { respond } of group) respond(json('{"success":true}'));
}

async function insertEvents(request: Request): Promise<Response> {
  const body = (await request.json()) as Body;
  return new Promise((respond) => {
    if (waiting.push({ body, respond }) === 1) setImmediate(() => void commitEvents());
  });
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { url: address } = request;
    const [, , id = "", edge] = new URL(address).pathname.split("/");
    if (request.method === "POST") return edge === "activities" ? insertEvents(request) : createLabel(request);
    const credential = address.indexOf("access_token=") + 13;
    const token = address.slice(credential, address.indexOf("&", credential));
    return edge === "personas" ? listPersonas(address, id, token) : readLabel(id, token);
  },
});
console.log(JSON.stringify({ ready: true, base_url: server.url.origin, pid: process.pid }));
