/** Checks backup and restore as docs/deploying.md describes them, while requests write. */
import { afterEach, expect, test } from "bun:test";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedPostgres } from "#harness/postgres-cluster";
import { needs } from "#harness/processes/needs";
import { endAll, newFolder, type RunningPlaza, runPlaza, startPlaza } from "../cli/plaza-process.ts";

needs("postgresql-tools");

afterEach(endAll);

const KEY = "a-control-key-of-the-test";
const SECRET_KEY = Buffer.from("sealing key of the backup tests!").toString("base64");

/** Creates labels until it is stopped, and records each label that was acknowledged. */
function writer(plaza: RunningPlaza) {
  const acknowledged: string[] = [];
  let isStopped = false;
  const run = async (): Promise<void> => {
    while (!isStopped) {
      const { status, body } = await plaza.control("POST", "nodes/labels", { page: "2001", name: `label ${acknowledged.length}` }, KEY);
      expect(status).toBe(201);
      acknowledged.push(String(body.id));
    }
  };
  const running = run();
  return {
    acknowledged,
    async stop() {
      isStopped = true;
      await running;
    },
  };
}

async function someWritten({ acknowledged }: { acknowledged: readonly string[] }, count: number): Promise<void> {
  while (acknowledged.length < count) await Bun.sleep(5);
}

/** Expects that the acknowledged labels exist, and that the sealing key opens the secret. */
async function expectRestored(plaza: RunningPlaza, acknowledged: readonly string[]): Promise<void> {
  const exported = (await plaza.control("GET", "export?secrets=true", undefined, KEY)).body as {
    labels: { id: string }[];
    apps: { secret: string }[];
  };
  expect(exported.labels.map(({ id }) => id)).toEqual(expect.arrayContaining([...acknowledged]));
  expect(exported.apps).toMatchObject([{ secret: "demo-app-secret" }]);
  // Ids that the server creates after the restore differ from the ids that it created before.
  const { status, body } = await plaza.control("POST", "nodes/labels", { page: "2001", name: "after the restore" }, KEY);
  expect(status).toBe(201);
  expect(acknowledged).not.toContain(String(body.id));
}

test("a data folder is copied while a server writes to it, and the copy with the key works as a server", async () => {
  const cwd = newFolder();
  const env = { PLAZA_CONTROL_KEY: KEY };
  const plaza = await startPlaza([], { cwd, env });
  mkdirSync(join(cwd, ".plaza/recordings/default/5301/1"), { recursive: true });
  writeFileSync(join(cwd, ".plaza/recordings/default/5301/1/0.ts"), "segment");
  await runPlaza(["world", "new", "second"], { cwd, env });
  await runPlaza(["world", "snapshot", "kept", "--world-name", "second"], { cwd, env });
  const writing = writer(plaza);
  await someWritten(writing, 20);
  const before = [...writing.acknowledged];
  const { code, stdout, stderr } = await runPlaza(["backup", "copy"], { cwd });
  expect({ code, stdout }).toEqual({ code: 0, stdout: `.plaza is copied to ${join(cwd, "copy")}\n` });
  expect(stderr).toContain("secret.key");
  await someWritten(writing, before.length + 20);
  await writing.stop();
  await plaza.end("SIGKILL");
  expect(readdirSync(join(cwd, "copy")).sort()).toEqual(["default.sqlite", "recordings", "second.sqlite", "snapshots"]);
  expect(existsSync(join(cwd, "copy/recordings/default/5301/1/0.ts"))).toBeTrue();
  expect(statSync(join(cwd, "copy")).mode & 0o777).toBe(0o700);
  expect(statSync(join(cwd, "copy/default.sqlite")).mode & 0o777).toBe(0o600);
  cpSync(join(cwd, "copy"), join(cwd, "restored"), { recursive: true });
  copyFileSync(join(cwd, ".plaza/secret.key"), join(cwd, "restored/secret.key"));
  const restored = await startPlaza(["--no-sandbox", "--data", "restored"], { cwd, env });
  await expectRestored(restored, before);
  expect((await runPlaza(["world", "list", "--data", "restored"], { cwd, env })).stdout).toContain('"second"');
  expect(await runPlaza(["world", "restore", "kept", "--world-name", "second", "--data", "restored"], { cwd, env })).toMatchObject({ code: 0 });
});

test("a refused backup is one line on stderr, and nothing is overwritten", async () => {
  const cwd = newFolder();
  const refused = (args: readonly string[]) => runPlaza(["backup", ...args], { cwd });
  expect(await refused(["copy"])).toEqual({ code: 2, stdout: "", stderr: "plaza: --data: there is no data in .plaza\n" });
  expect(await refused(["copy", "--data", "postgres://127.0.0.1/x"])).toMatchObject({ code: 2, stderr: expect.stringContaining("pg_dump") });
  expect(existsSync(join(cwd, "copy"))).toBeFalse();
  await runPlaza(["token", "create-app", "--name", "First"], { cwd });
  mkdirSync(join(cwd, "full/of"), { recursive: true });
  expect(await refused(["full"])).toMatchObject({ code: 2, stderr: "plaza: <folder>: full is not empty\n" });
  writeFileSync(join(cwd, "file"), "");
  expect(await refused(["file"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^plaza: the data cannot be copied: [^\n]+\n$/),
  });
  writeFileSync(join(cwd, ".plaza/default.sqlite"), "no database");
  expect(await refused(["copy"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^plaza: the data cannot be copied: [^\n]+\n$/),
  });
});

test("PostgreSQL is dumped while a server writes to it, and the dump with the key works as a server", async () => {
  const cluster = await sharedPostgres();
  const [data, restored] = [await cluster.newDatabase(), await cluster.newDatabase()];
  const cwd = newFolder();
  const env = { PLAZA_CONTROL_KEY: KEY, PLAZA_SECRET_KEY: SECRET_KEY };
  const plaza = await startPlaza(["--data", data], { cwd, env });
  const writing = writer(plaza);
  await someWritten(writing, 20);
  const before = [...writing.acknowledged];
  await run(cwd, ["pg_dump", "--format=custom", "--schema=plaza_*", "--file=plaza.dump", data]);
  await someWritten(writing, before.length + 5);
  await writing.stop();
  await plaza.end("SIGKILL");
  await run(cwd, ["pg_restore", `--dbname=${restored}`, "--no-owner", "--exit-on-error", "plaza.dump"]);
  await expectRestored(await startPlaza(["--no-sandbox", "--data", restored], { cwd, env }), before);
});

async function run(cwd: string, command: readonly string[]): Promise<void> {
  const running = Bun.spawn([...command], { cwd, stdout: "pipe", stderr: "pipe" });
  expect({ code: await running.exited, stderr: await new Response(running.stderr).text() }).toEqual({ code: 0, stderr: "" });
}
