/** Checks what happens when a PostgreSQL primary and its standby exchange their roles. */
import { afterEach, describe, expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { startPostgresCluster } from "#harness/postgres-cluster";
import { needs } from "#harness/processes/needs";
import { openPostgres } from "#storage/postgres/open";
import { sql } from "#storage/sql";
import { becomesTrue, cleanUp, closedAfterwards, notes } from "../stores.ts";

needs("postgresql-tools");

const LIMIT_MS = 90_000;

const insert = (id: number) => sql`INSERT INTO notes (id, list) VALUES (${id}, ${"a"})`;
const ids = sql`SELECT n.id FROM notes n ORDER BY n.id`;

/** Starts the pair. `synchronous_commit` waits for the standby, so acknowledged writes survive a failover. */
async function startPair() {
  const primary = await startPostgresCluster();
  afterThisTest(() => primary.stop());
  const url = await primary.newDatabase();
  const standby = await primary.newStandby();
  afterThisTest(() => standby.stop());
  const { pathname } = new URL(url);
  const hostOf = ({ url: address }: { url: string }) => new URL(address).host;
  const addressOf = (...hosts: { url: string }[]) => `postgres://postgres@${hosts.map(hostOf).join(",")}${pathname}`;
  return { primary, standby, addressOf };
}

const open = async (url: string) => closedAfterwards(await openPostgres({ url, schema: "plaza", migrations: [notes] }));

describe("failover", () => {
  afterEach(cleanUp);

  test(
    "the host that accepts writes is found among several, in any position, before and after the failover",
    async () => {
      const { primary, standby, addressOf } = await startPair();
      const database = await open(addressOf(standby, primary));
      await database.write((tx) => tx.runOne(insert(1)));
      const isCopied = async () =>
        (await (await open(addressOf(primary))).reader.get(sql`SELECT COUNT(*) AS n FROM pg_stat_replication WHERE replay_lsn = sent_lsn`))?.n === 1;
      expect(await becomesTrue(isCopied, 20_000)).toBe(true);
      await primary.kill();
      const failure = await database.write((tx) => tx.runOne(insert(2))).catch((error) => error);
      expect(failure).toMatchObject({ errorName: "databaseUnreachable" });
      await standby.promote();
      primary.demote();
      await primary.start();
      const isWritten = () =>
        database
          .write((tx) => tx.runOne(insert(3)))
          .then(
            () => true,
            () => false,
          );
      expect(await becomesTrue(isWritten, 20_000)).toBe(true);
      expect(await database.reader.all(ids)).toEqual([{ id: 1 }, { id: 3 }]);
      // These writes use idle connections as well as new ones.
      await Promise.all(Array.from({ length: 8 }, (_, n) => database.write((tx) => tx.runOne(insert(10 + n)))));
    },
    LIMIT_MS,
  );

  test(
    "one address that leads to a standby: 503 until it leads to a primary, and nothing is lost",
    async () => {
      const { standby, addressOf } = await startPair();
      const early = await open(addressOf(standby)).catch((error) => error);
      expect(early).toMatchObject({ errorName: "databaseUnreachable", cause: { name: "NotPrimary" } });
      await standby.promote();
      const database = await open(addressOf(standby));
      await database.write((tx) => tx.runOne(insert(1)));
      // The primary is demoted while a process has connections to it.
      await standby.halt("fast");
      standby.demote();
      await standby.start();
      for (let n = 0; n < 3; n++) {
        const refused = await database.write((tx) => tx.runOne(insert(2))).catch((error) => error);
        expect(refused).toMatchObject({ errorName: "databaseUnreachable" });
      }
      await standby.promote();
      const isWritten = () =>
        database
          .write((tx) => tx.runOne(insert(3)))
          .then(
            () => true,
            () => false,
          );
      expect(await becomesTrue(isWritten, 20_000)).toBe(true);
      expect(await database.reader.all(ids)).toEqual([{ id: 1 }, { id: 3 }]);
    },
    LIMIT_MS,
  );

  test("session attributes other than those of a primary are refused", async () => {
    const wrong = await openPostgres({ url: "postgres://a@127.0.0.1/b?target_session_attrs=standby", schema: "plaza", migrations: [] }).catch(
      (error) => error,
    );
    expect(wrong).toMatchObject({ name: "WrongAddress" });
  });
});
