/**
 * The floor of webhooks on PostgreSQL: inserts the event, sends the same POST as the floor of the bench `webhooks`, and stores the result. Each write
 * is durable.
 */
import { Client } from "pg";
import { postOf, serveRounds } from "./webhook-posts.ts";

const [sink = "", , url = ""] = Bun.argv.slice(2);
/** The number of connections to PostgreSQL, which is that of Plaza, and the number of POSTs that one callback may get at once. */
const CONNECTIONS = 8;
const clients = await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    const client = new Client({ connectionString: url, pipeline: true });
    await client.connect();
    return client;
  }),
);
await clients[0]?.query("CREATE TABLE deliveries (id TEXT PRIMARY KEY, body TEXT, is_done INTEGER)");
let turn = 0;
const run = (name: string, text: string, values: unknown[]): Promise<unknown> =>
  (clients[turn++ % CONNECTIONS] as Client).query({ name, text, values });

serveRounds(async (id) => {
  const { body, send } = postOf(sink, id);
  await run("made", "INSERT INTO deliveries VALUES ($1, $2, 0)", [id, body]);
  await send();
  await run("done", "UPDATE deliveries SET is_done = 1 WHERE id = $1", [id]);
});
