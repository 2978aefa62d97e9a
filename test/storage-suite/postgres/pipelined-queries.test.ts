/** Checks statements that are sent together, on a connection of the driver. */
import { afterEach, expect, test } from "bun:test";
import { Client } from "pg";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import { type Known, PipelinedQueries, type Result, type Statement } from "#storage/postgres/pipelined-queries";
import type { SqlValue } from "#storage/sql";
import { cleanUp } from "../stores.ts";

/** The time limit of a statement: long for a statement that takes no time, also on a busy machine. */
const LIMIT_MS = 3_000;

afterEach(cleanUp);

type Sent = readonly [statement: Statement, ...values: SqlValue[]];

async function connect(limitMs?: number) {
  const { url } = await sharedPostgres();
  const client = new Client({ connectionString: url, pipeline: true, ...(limitMs === undefined ? {} : { query_timeout: limitMs }) });
  client.on("error", () => {});
  await client.connect();
  afterThisTest(() => client.end().catch(() => {}));
  const known: Known = new Map();
  /** The rows of each statement, or the message of its error. */
  return (...all: readonly Sent[]) => {
    const results: Promise<Result>[] = [];
    const queries = all.map(([statement, ...values]) => {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      results.push(promise);
      return { statement, values, resolve, reject };
    });
    client.query(new PipelinedQueries(queries, known));
    return Promise.all(results.map((result) => result.then(({ rows }) => rows as unknown[], String)));
  };
}

const named: Statement = { name: "named", text: "SELECT CAST($1 AS INTEGER) AS n" };
const other: Statement = { name: "other", text: "SELECT CAST($1 AS TEXT) AS text, CAST($2 AS BYTEA) AS bytes" };
const divided: Statement = { name: "divided", text: "SELECT 1 / CAST($1 AS INTEGER) AS n" };
const large: Statement = { name: "large", text: "SELECT CAST($1 AS BIGINT) AS n" };

test("each statement has its own rows, prepared or not, the first time and later", async () => {
  const send = await connect();
  const bytes = new Uint8Array([1, 2, 3]).subarray(1);
  const unnamed = (text: string): Statement => ({ text });
  for (let round = 0; round < 2; round++) {
    const results = await send(
      [named, 1],
      [other, "ä", bytes],
      [named, null],
      [unnamed("SELECT 5 AS five")],
      [unnamed("SELECT 6 AS six")],
      [other, null, null],
    );
    const read = new Uint8Array([2, 3]);
    expect(results).toEqual([[{ n: 1 }], [{ text: "ä", bytes: read }], [{ n: null }], [{ five: 5 }], [{ six: 6 }], [{ text: null, bytes: null }]]);
  }
});

test("a failed one makes those behind it fail, and all of them run again", async () => {
  const send = await connect();
  for (let round = 0; round < 2; round++) {
    const [before, failed, behind] = await send([named, 1], [divided, 0], [other, "a", null]);
    expect(before).toEqual([{ n: 1 }]);
    expect(String(failed)).toContain("division by zero");
    expect(behind).toBe(failed as unknown[]);
    expect(await send([other, "a", null], [divided, 1])).toEqual([[{ text: "a", bytes: null }], [{ n: 1 }]]);
  }
});

test("a value that JavaScript cannot hold fails only its own statement", async () => {
  const send = await connect();
  const [before, wrong, behind] = await send([large, 1], [large, "9007199254740993"], [large, 2]);
  expect([before, behind]).toEqual([[{ n: 1 }], [{ n: 2 }]]);
  expect(String(wrong)).toContain("beyond 2^53");
});

test("a statement that ended in time, successfully or not, has no limit any more; one that has not ends the connection", async () => {
  const send = await connect(LIMIT_MS);
  await send([named, 1]);
  await send([divided, 0]);
  await Bun.sleep(LIMIT_MS + 500);
  expect(await send([named, 2])).toEqual([[{ n: 2 }]]);
  const [slow, behind] = await send([{ text: "SELECT CAST(pg_sleep(60) AS TEXT) AS slept" }], [named, 3]);
  expect([slow, behind]).toEqual(["Error: Query read timeout", "Error: Query read timeout"] as never);
  expect(String((await send([named, 4]))[0])).toMatch(/^Error: (Connection terminated|Client has encountered|Query read)/);
});
