/** D-341: checks the problems of a real PostgreSQL that does not run, and of one that has no connection left. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { afterThisTest } from "#harness/cleanup";
import { startPostgresCluster } from "#harness/postgres-cluster";
import { namesProblem, startWatched } from "./watched-plaza.ts";

async function ownCluster() {
  const cluster = await startPostgresCluster();
  afterThisTest(() => cluster.stop());
  return cluster;
}

test("D-341: a server of PostgreSQL that is away is named at once, also to an operator who asks for the first time, and ends by itself", async () => {
  const cluster = await ownCluster();
  const plaza = await startWatched(["--data", cluster.url]);
  await cluster.halt("immediate");
  const said = await plaza.says(namesProblem("unreachable"));
  expect(said.status).toStartWith("Plaza ");
  expect(said.status).toContain("runs, but it cannot use its database\n");
  expect(said.status).toContain("Check that the database runs; Plaza reconnects by itself.");
  expect(said.readyz.status).toBe(503);
  expect(said.readyz.text).toContain("The database cannot be reached");
  expect(await plaza.readLabels()).toBe(503);
  await cluster.start();
  await plaza.says(({ readyz, metrics }) => readyz.text === '{"status":"ready"}' && !metrics.includes("plaza_database_problem{"));
  expect(await plaza.createLabel("afterwards")).toBe(200);
});

test("D-341: connections that the server refuses are named, with its own words as the cause", async () => {
  const cluster = await ownCluster();
  const superuser = new Client({ connectionString: cluster.url });
  await superuser.connect();
  // One of the connections is for changes of other processes, and one for alerts.
  await superuser.query("CREATE ROLE few LOGIN CONNECTION LIMIT 5");
  await superuser.query("CREATE DATABASE few OWNER few");
  await superuser.end();
  const plaza = await startWatched(["--data", cluster.url.replace("postgres@", "few@").replace(/\/[^/]*$/, "/few")]);
  const statuses = () => Promise.all(Array.from({ length: 30 }, (_, at) => plaza.createLabel(`${at}-${performance.now()}`)));
  while (!(await statuses()).includes(503));
  const said = await plaza.says(namesProblem("no_connection"));
  expect(said.status).toContain('the last error: too many connections for role "few"');
  expect(said.status).toContain("see max_connections and pg_stat_activity");
});
