/** D-341: checks that a session that locks one table does not stop requests that use other tables. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import { namesProblem, startWatched } from "./watched-plaza.ts";

test("D-341: requests on the locked table get 503, all others are served, and it is named until the lock goes", async () => {
  const data = await (await sharedPostgres()).newDatabase();
  const plaza = await startWatched(["--data", data, "--lock-ms-max", "3000"]);
  const holder = new Client({ connectionString: data });
  await holder.connect();
  afterThisTest(() => holder.end());
  await holder.query("BEGIN; LOCK TABLE plaza_default.personas IN ACCESS EXCLUSIVE MODE");
  let isFlooding = true;
  const refused: number[] = [];
  const flood = Array.from({ length: 40 }, async () => {
    while (isFlooding) refused.push(await plaza.readPersonas());
  });
  const said = await plaza.says(namesProblem("too_slow"));
  expect(said.status).toContain("see pg_locks and pg_stat_activity");
  expect(said.readyz.status).toBe(200);
  const others: number[] = [];
  for (let n = 0; n < 50; n++) others.push(await plaza.createLabel(`label-${n}`), await plaza.readLabels());
  expect(others.filter((status) => status !== 200)).toEqual([]);
  expect((await plaza.said()).metrics).toMatch(/^plaza_database_connections_in_use \d+$/m);
  isFlooding = false;
  await holder.query("ROLLBACK");
  await Promise.all(flood);
  expect(new Set(refused)).toContain(503);
  while ((await plaza.readPersonas()) !== 200);
  await plaza.says(({ metrics }) => !metrics.includes("plaza_database_problem{"));
});
