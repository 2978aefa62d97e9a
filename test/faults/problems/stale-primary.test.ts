/** D-348: checks what happens if an old primary starts again after a failover and accepts writes. */
import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { type PostgresCluster, startPostgresCluster } from "#harness/postgres-cluster";
import { needs } from "#harness/processes/needs";
import { namesProblem, startWatched } from "./watched-plaza.ts";

needs("postgresql-tools");

async function startPair() {
  const primary = await startPostgresCluster();
  afterThisTest(() => primary.stop());
  const data = await primary.newDatabase();
  const standby = await primary.newStandby();
  afterThisTest(() => standby.stop());
  const hostOf = ({ url }: PostgresCluster) => new URL(url).host;
  return { primary, standby, data: data.replace(hostOf(primary), `${hostOf(primary)},${hostOf(standby)}`) };
}

test("D-348: it is refused and named while the newer one is away, and used by nobody when both accept writes", async () => {
  const { primary, standby, data } = await startPair();
  const plaza = await startWatched(["--data", data]);
  expect(await plaza.createLabel("one")).toBe(200);
  await primary.halt("immediate");
  await standby.promote();
  const isWritten = (name: string) => plaza.createLabel(name).then((status) => status === 200);
  for (let n = 0; !(await isWritten(`after-failover-${n}`)); n++);
  // The old primary does not know that another server has replaced it as the primary.
  await primary.start();
  await standby.halt("immediate");
  const said = await plaza.says(namesProblem("stale_primary"));
  expect(said.status).toContain("the server is on timeline 1, and another server is on timeline 2");
  expect(said.readyz.status).toBe(503);
  expect(await plaza.createLabel("to-the-old-one")).toBe(503);
  await standby.start();
  for (let n = 0; !(await isWritten(`again-${n}`)); n++);

  // A new process connects to both servers, and to the older one first.
  const other = await startWatched(["--data", data]);
  const found = await other.says(({ log }) => log.some(({ problem }) => problem === "stale_primary"));
  expect(found.readyz.status).toBe(200);
  expect(await other.createLabel("from-the-other")).toBe(200);
  expect((await other.said()).status).toContain("Plaza does not use that server; stop that server.");
  await standby.halt("immediate");
  expect(await other.createLabel("to-the-old-one")).toBe(503);
});
