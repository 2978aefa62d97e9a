/**
 * A network drops packets between the server and PostgreSQL. Checks that every request ends within the limit that docs/operating/postgresql.md states.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { silentNetwork } from "#harness/postgres/silent-network";
import { type PostgresCluster, startPostgresCluster } from "#harness/postgres-cluster";
import { openPostgres } from "#storage/postgres/open";
import { sql } from "#storage/sql";
import { notes } from "../stores.ts";

/** The time limit of a test: the server waits 30 s for a statement and 5 s for a connection, and the cluster needs time to start. */
const LIMIT_MS = 120_000;

const insert = (id: number) => sql`INSERT INTO notes (id, list) VALUES (${id}, ${"a"})`;
const all = sql`SELECT id FROM notes ORDER BY id`;

let cluster: PostgresCluster;
beforeAll(async () => {
  cluster = await startPostgresCluster();
}, LIMIT_MS);
afterAll(() => cluster?.stop(), LIMIT_MS);

const outcomeOf = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => "done",
    (error) => error.errorName ?? String(error),
  );

test(
  "reads and writes that the silence meets end with an error and are not repeated; afterwards everything is served again",
  async () => {
    const network = await silentNetwork(await cluster.newDatabase());
    const database = await openPostgres({ url: network.url, schema: "plaza", migrations: [notes], limits: { connections: 4 } });
    // The statements leave four idle connections.
    await Promise.all(Array.from({ length: 4 }, () => database.reader.all(sql`SELECT CAST(pg_sleep(0.1) AS TEXT) AS slept`)));
    await database.write((tx) => tx.run(insert(1)));
    let runs = 0;
    const [inserted, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const atCommit = database.write(async (tx) => {
      runs++;
      await tx.run(insert(2));
      inserted.resolve();
      await committing.promise;
    });
    await inserted.promise;
    network.silence();
    committing.resolve();
    const inBody = database.write(async (tx) => {
      runs++;
      await tx.run(insert(3));
    });
    const others = Array.from({ length: 6 }, () => database.reader.all(all));
    const outcomes = await Promise.all([atCommit, inBody, ...others].map(outcomeOf));
    expect({ outcomes, runs }).toEqual({ outcomes: new Array(8).fill("databaseUnreachable"), runs: 2 });
    network.restore();
    await database.write((tx) => tx.run(insert(4)));
    const stored = (await database.reader.all<{ id: number }>(all)).map(({ id }) => id);
    // The server cannot know whether the commit of this row arrived.
    expect(stored.filter((id) => id !== 2)).toEqual([1, 4]);
    await database.close();
    await network.close();
  },
  LIMIT_MS,
);
