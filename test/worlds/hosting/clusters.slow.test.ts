/** D-420: a server whose worlds are in two PostgreSQL clusters, each of which is killed once. */
import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { type PostgresCluster, sharedPostgres, startPostgresCluster } from "#harness/postgres-cluster";
import { type OwnServer, startOwnServer } from "../own-server.ts";
import { addressOf, createLabel, listLabels, makeWorld, worldOf } from "../server-of-worlds.ts";

/** A PostgreSQL cluster that a test can kill. */
async function killable(): Promise<PostgresCluster> {
  const cluster = await startPostgresCluster();
  afterThisTest(() => cluster.stop());
  return cluster;
}

const labelsOf = (name: string): string[] => ["5001", "5002", "5003"].map((id) => `${id} of ${name}`);

const statusOf = async (server: OwnServer, name: string): Promise<number> => (await listLabels(addressOf(server, name))).status;

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(10);
}

async function readyz({ plaza }: OwnServer) {
  const response = await fetch(`${plaza.ready.control_url}/readyz`);
  return { status: response.status, body: (await response.json()) as { databases?: Record<string, string> } };
}

test("D-420: new worlds go where least is, and while a cluster is away only its worlds get 503, until it is back", async () => {
  const away = await killable();
  const databases = [`eu1=${await (await sharedPostgres()).newDatabase()}`, `eu2=${away.url}`];
  const server = await startOwnServer({ databases });
  const { control } = server;
  for (const name of ["a", "b"]) expect((await makeWorld(server, name)).status).toBe(201);
  expect((await control("POST", "worlds", { name: "c", database: "eu2", file: worldOf("c") })).status).toBe(201);
  const { body } = await control("GET", "worlds");
  const places = body.data.map(({ name, database }: { name: string; database: string }) => `${name} ${database}`);
  expect(places).toEqual(["default eu1", "a eu1", "b eu2", "c eu2"]);
  expect(await control("POST", "worlds", { name: "d", database: "eu3" })).toMatchObject({
    ...{ status: 422, body: { error: { parameter: "database", message: expect.stringContaining("eu1, eu2") } } },
  });
  const revoke = async (name: string) => {
    const { body: tokens } = await control("GET", `worlds/${name}/tokens`);
    return control("DELETE", `worlds/${name}/tokens/${tokens.data[0].id}`);
  };
  await away.kill();
  for (const name of ["b", "c"]) expect(await statusOf(server, name)).toBe(503);
  expect((await listLabels(addressOf(server, "a"))).names.sort()).toEqual(labelsOf("a"));
  // The server creates a new world in a database that is available.
  expect((await makeWorld(server, "d")).status).toBe(201);
  expect((await listLabels(addressOf(server, "d"))).names.sort()).toEqual(labelsOf("d"));
  await until(async () => (await readyz(server)).body.databases?.eu2 === "unavailable");
  expect(await readyz(server)).toMatchObject({ status: 200, body: { status: "ready", databases: { eu1: "ready" } } });
  const alerts = async () => (await control("GET", "worlds/default/alerts")).body.data as { kind: string; of: string }[];
  await until(async () => (await alerts()).some(({ kind, of }) => kind === "database_unreachable" && of === "eu2"));
  const metrics = await (await fetch(`${server.plaza.ready.control_url}/metrics`)).text();
  expect(metrics).toContain('plaza_database_problem{database="eu2",problem="unreachable"} 1');
  expect(metrics).not.toContain('database="eu1",problem=');
  expect(await control("DELETE", "worlds/c")).toMatchObject({ status: 503 });
  await away.start();
  for (const name of ["b", "c"]) await until(async () => (await statusOf(server, name)) === 200);
  for (const name of ["a", "b", "c"]) expect((await listLabels(addressOf(server, name))).names.sort()).toEqual(labelsOf(name));
  // If one server revokes a token, the other server refuses it too, in each cluster.
  const other = await startOwnServer({ databases });
  for (const name of ["a", "b"]) {
    expect(await statusOf(other, name)).toBe(200);
    expect((await revoke(name)).status).toBe(200);
    await until(async () => (await statusOf(other, name)) !== 200);
    expect(await statusOf(other, name)).toBe(403);
  }
});

test("D-420: without the first cluster, worlds of other clusters are served from what is known, and changes of the server get 503", async () => {
  const first = await killable();
  const databases = [`eu1=${first.url}`, `eu2=${await (await sharedPostgres()).newDatabase()}`];
  const server = await startOwnServer({ databases, control_key: "configured-key-of-the-server" });
  const { control } = server;
  for (const [name, database] of [
    ["a", "eu1"],
    ["b", "eu2"],
    ["c", "eu2"],
  ])
    expect((await control("POST", "worlds", { name, database, file: worldOf(name as string) })).status).toBe(201);
  await server.plaza.worlds.closeUnused();
  for (const name of ["a", "b"]) expect(await statusOf(server, name)).toBe(200);
  await first.kill();
  expect(await statusOf(server, "a")).toBe(503);
  expect(await createLabel(addressOf(server, "b"), "without the first")).toBe(200);
  // The server knows the world already, and opens it without the list of worlds.
  expect((await listLabels(addressOf(server, "c"))).names.sort()).toEqual(labelsOf("c"));
  expect((await control("GET", "worlds/b/nodes/labels")).body.data).toHaveLength(4);
  expect((await control("POST", "worlds", { name: "d" })).status).toBe(503);
  expect((await control("POST", "worlds/b/move", { to: "eu1" })).status).toBe(503);
  expect((await readyz(server)).status).toBe(200);
  await first.start();
  await until(async () => (await statusOf(server, "a")) === 200);
  await until(async () => (await control("POST", "worlds", { name: "d" })).status === 201);
  expect((await listLabels(addressOf(server, "b"))).names.sort()).toEqual([...labelsOf("b"), "without the first"]);
});
