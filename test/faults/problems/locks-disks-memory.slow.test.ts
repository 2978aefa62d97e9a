/** D-341: locked files, disks that fail, and memory that runs out, each made with the means of the system or of the database. */
import { expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterThisTest } from "#harness/cleanup";
import { testOnPostgres } from "#harness/databases";
import { startPostgresCluster } from "#harness/postgres-cluster";
import { temporaryFolder } from "#harness/server";
import { namesProblem, startWatched, type WatchedPlaza } from "./watched-plaza.ts";

/** Creates labels until one is refused with 503. */
async function untilRefused(plaza: WatchedPlaza, name: string): Promise<void> {
  for (let count = 0; ; count++) {
    const status = await plaza.createLabel(`${name}-${count}`);
    if (status === 503) return;
    expect(status).toBe(200);
  }
}

/** Tries to create labels until one is created; afterwards the report ends as after a full disk. */
async function untilOver(plaza: WatchedPlaza): Promise<void> {
  for (let count = 0; (await plaza.createLabel(`over-${count}`)) !== 200; count++);
}

/** A program that locks the file for writing, as a shell of SQLite does with BEGIN IMMEDIATE, until it is killed. */
const LOCKER = `
import { Database } from "bun:sqlite";
const held = new Database(process.env.LOCKED_FILE);
held.run("BEGIN IMMEDIATE");
process.stdout.write("locked");
setInterval(() => held, 1000);`;

test("D-341: SQLite: another program that locks the file is named, reads go on, and writes succeed when it has ended", async () => {
  const data = join(temporaryFolder(), "data");
  const plaza = await startWatched(["--data", data]);
  const locker = Bun.spawn([process.execPath, "-e", LOCKER], {
    ...{ env: { LOCKED_FILE: join(data, "default.sqlite") }, stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  });
  afterThisTest(() => locker.kill("SIGKILL"));
  await locker.stdout.getReader().read();
  await untilRefused(plaza, "locked");
  const said = await plaza.says(namesProblem("locked"));
  expect(said.status).toContain("Another program locks the database file. End that program.");
  expect(said.readyz).toEqual({ status: 200, text: '{"status":"ready","problems":["locked"]}' });
  expect(await plaza.readLabels()).toBe(200);
  locker.kill("SIGKILL");
  await untilOver(plaza);
}, 60_000);

test("D-341: SQLite: a write that the system refuses with an error is named as a problem of the disk", async () => {
  // The system refuses to let a file of this process grow beyond the limit. Without this, the signal that the test ignores would end the process.
  const limited = ["sh", "-c", `trap '' XFSZ; ulimit -S -f 2048; exec "$0" "$@"`];
  const plaza = await startWatched(["--data", join(temporaryFolder(), "data")], {}, limited);
  await untilRefused(plaza, "limited");
  const said = await plaza.says(namesProblem("disk_error"));
  expect(said.status).toContain("The disk of the database returns errors.");
  expect(said.status).toContain("the last error: disk I/O error (SQLITE_IOERR_WRITE)");
  expect(said.readyz).toEqual({ status: 200, text: '{"status":"ready","problems":["disk_error"]}' });
  expect(await plaza.readLabels()).toBe(200);
  Bun.spawnSync(["prlimit", "--pid", String(plaza.pid), "--fsize=unlimited"]);
  await untilOver(plaza);
}, 60_000);

/** A PostgreSQL cluster for this test alone, with a session of a superuser. */
async function ownCluster() {
  const cluster = await startPostgresCluster();
  afterThisTest(() => cluster.stop());
  const superuser = new Client({ connectionString: cluster.url });
  await superuser.connect();
  superuser.on("error", () => {});
  afterThisTest(() => superuser.end().catch(() => {}));
  return { cluster, superuser };
}

testOnPostgres(
  "D-341: a file of a table that is gone is named as a problem of the disk, with the path as the cause",
  async () => {
    const { cluster, superuser } = await ownCluster();
    const plaza = await startWatched(["--data", cluster.url]);
    expect(await plaza.createLabel("before")).toBe(200);
    const { rows } = await superuser.query("SELECT current_setting('data_directory') || '/' || pg_relation_filepath('plaza_default.labels') AS file");
    const { file } = rows[0] as { file: string };
    renameSync(file, `${file}.away`);
    // Ends the running sessions, because they hold the file of the table open.
    await superuser.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
    await untilRefused(plaza, "gone");
    const said = await plaza.says(namesProblem("disk_error"));
    expect(said.status).toContain("The disk of the database returns errors.");
    expect(said.status).toContain("could not open file");
    expect(await plaza.readPersonas()).toBe(200);
    renameSync(`${file}.away`, file);
    await untilOver(plaza);
  },
  60_000,
);

testOnPostgres(
  "D-341: shared memory of PostgreSQL that another program has used up is named, and writes succeed when that program has ended",
  async () => {
    const { cluster, superuser } = await ownCluster();
    const plaza = await startWatched(["--data", cluster.url]);
    expect(await plaza.createLabel("before")).toBe(200);
    // If a statement fails because there is too little memory, its session keeps its locks.
    const all = superuser.query("SELECT pg_advisory_lock(n) FROM generate_series(1, 10000000) AS n");
    expect(await all.catch(({ code }: { code: string }) => code)).toBe("53200");
    await untilRefused(plaza, "memory");
    const said = await plaza.says(namesProblem("no_memory"));
    expect(said.status).toContain("The database has too little memory.");
    expect(said.status).toContain("out of shared memory");
    await superuser.query("SELECT pg_advisory_unlock_all()");
    await untilOver(plaza);
  },
  60_000,
);
