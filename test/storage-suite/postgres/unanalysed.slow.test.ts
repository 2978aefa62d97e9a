/**
 * Checks that a request reads no more rows when its table has more, even if PostgreSQL never analysed the table. The test counts the rows that are
 * read, not the time.
 */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { startPostgresCluster } from "#harness/postgres-cluster";
import { type Server, startServer, worldFile } from "#harness/server";

const APP = "1001";
const REQUESTS = 100;
const EVENTS = 20;
const SENDERS = 8;
/** The factor by which the number of events grows: with 20 times as many events, a scan of all rows of an app becomes visible. */
const GROWTH = 20;

async function report(base_url: string, from: number): Promise<void> {
  const custom_events = Array.from({ length: EVENTS }, (_, at) => ({ _eventName: "level up", event_id: `e${from * EVENTS + at}` }));
  const response = await fetch(`${base_url}/v26.0/${APP}/activities`, {
    method: "POST",
    headers: { authorization: `Bearer ${APP}|s3cret`, "content-type": "application/json", "x-forwarded-for": "203.0.113.7" },
    body: JSON.stringify({ event: "CUSTOM_APP_EVENTS", advertiser_id: "device", custom_events }),
  });
  expect({ status: response.status, text: await response.text() }).toEqual({ status: 200, text: '{"success":true}' });
}

/** The number of rows of app events that statements have read, with or without an index, once the sessions have reported all `reports`. */
async function rowsRead(client: Client, reports: number): Promise<number> {
  for (;;) {
    await client.query("SELECT pg_stat_clear_snapshot()");
    const { rows } = await client.query<{ read: string; stored: string }>(
      `SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) AS read, sum(n_tup_ins) FILTER (WHERE relname = 'app_events') AS stored
      FROM pg_stat_user_tables WHERE relname LIKE 'app\\_event%'`,
    );
    // A session reports the rows that it read and stored at the end of a transaction, or 10 s later if no transaction follows.
    if (Number(rows[0]?.stored) === reports * EVENTS) return Number(rows[0]?.read);
    await Bun.sleep(500);
  }
}

test("a report of app events reads the same amount while the tables grow and nobody analyses them", async () => {
  const cluster = await startPostgresCluster();
  let server: Server | undefined;
  const client = new Client({ connectionString: cluster.url });
  try {
    await client.connect();
    await client.query("ALTER SYSTEM SET autovacuum = off");
    await client.query("SELECT pg_reload_conf()");
    server = await startServer(["--data", cluster.url, "--world", worldFile({ apps: [{ id: APP, name: "Shop", secret: "s3cret" }] })]);
    const { base_url } = server;
    let sent = 0;
    const readBy = async (requests: number): Promise<number> => {
      const before = await rowsRead(client, sent);
      const end = sent + requests;
      const sender = async (): Promise<void> => {
        while (sent < end) await report(base_url, sent++);
      };
      await Promise.all(Array.from({ length: SENDERS }, sender));
      return (await rowsRead(client, end)) - before;
    };
    // During this call, PostgreSQL plans the statements, while the tables are empty.
    await readBy(REQUESTS);
    const first = await readBy(REQUESTS);
    await readBy(GROWTH * REQUESTS);
    const later = await readBy(REQUESTS);
    const { rows } = await client.query(
      "SELECT count(*) AS count FROM pg_stat_user_tables WHERE last_analyze IS NOT NULL OR last_autoanalyze IS NOT NULL",
    );
    expect(rows).toEqual([{ count: "0" }]);
    console.log(`rows read by ${REQUESTS} reports: ${first} on new tables, ${later} on grown ones`);
    expect(first).toBeGreaterThan(0);
    expect(later).toBeLessThan(2 * first);
  } finally {
    await server?.stop();
    await client.end();
    await cluster.stop();
  }
});
