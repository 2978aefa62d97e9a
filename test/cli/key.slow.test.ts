import { afterEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sharedPostgres } from "#harness/postgres-cluster";
import { endAll, newFolder, type RunningPlaza, runPlaza, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

const APPS = 500;
const KEY = "a-control-key-of-the-test";

async function importApps(plaza: RunningPlaza): Promise<void> {
  const apps = Array.from({ length: APPS }, (_, index) => ({ id: String(500_000 + index), secret: `secret of ${index}` }));
  expect((await plaza.control("POST", "import", { apps }, KEY)).status).toBe(200);
}

const secretsOf = async (plaza: RunningPlaza): Promise<unknown> =>
  ((await plaza.control("GET", "export", undefined, KEY)).body.apps as { id: string; secret: string }[]).map(({ id, secret }) => [id, secret]);

async function sealing(
  plaza: RunningPlaza,
  args: readonly string[] = ["sealing"],
): Promise<{ key_id: string; previous: unknown[]; waiting: number }> {
  const ended = await runPlaza(["key", ...args], { env: { PLAZA_CONTROL_URL: plaza.ready.control_url, PLAZA_CONTROL_KEY: KEY } });
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  return JSON.parse(ended.stdout);
}

async function allSealed(plaza: RunningPlaza): Promise<void> {
  while ((await sealing(plaza)).waiting > 0) await Bun.sleep(50);
}

test("D-170: plaza key creates, lists, revokes and replaces control keys", async () => {
  const plaza = await startPlaza(["--data", ":memory:"]);
  const url = plaza.ready.control_url;
  const key = (args: readonly string[], PLAZA_CONTROL_KEY = plaza.ready.control_key ?? "") =>
    runPlaza(["key", ...args], { env: { PLAZA_CONTROL_URL: url, PLAZA_CONTROL_KEY } });
  const reader = JSON.parse((await key(["create", "--access", "read", "--name", "dashboard"])).stdout) as { id: string; key: string };
  const rotated = JSON.parse((await key(["rotate", "--overlap-seconds", "0"])).stdout) as { key: string };
  expect(await key(["list"])).toMatchObject({ code: 1, stdout: "" });
  const listed = await key(["list"], reader.key);
  expect(listed.stdout.trim().split("\n")).toHaveLength(3);
  expect(listed.stdout).not.toContain(reader.key);
  expect(await key(["revoke", "--id", reader.id], reader.key)).toMatchObject({ code: 1, stderr: "plaza: this key may only read\n" });
  expect((await key(["revoke", "--id", reader.id], rotated.key)).code).toBe(0);
  expect((await key(["list"], reader.key)).code).toBe(1);
  // Both Commander and the API name the wrong parameter in their errors.
  expect(await key(["create"])).toMatchObject({ code: 2 });
  expect((await key(["rotate", "--overlap-seconds", "soon"], rotated.key)).stderr).toContain("overlap_seconds");
});

test("D-170: a replaced key is refused after a restart with the old configuration; a command without a server replaces it, too", async () => {
  const data = newFolder();
  const rotated = await runPlaza(["key", "rotate", "--data", data, "--overlap-seconds", "0"], { env: { PLAZA_CONTROL_KEY: KEY } });
  expect(rotated.code).toBe(0);
  const plaza = await startPlaza(["--data", data], { env: { PLAZA_CONTROL_KEY: KEY } });
  expect((await plaza.control("GET", "clock", undefined, KEY)).status).toBe(401);
  expect((await plaza.control("GET", "clock", undefined, (JSON.parse(rotated.stdout) as { key: string }).key)).status).toBe(200);
  expect(await runPlaza(["key", "rotate", "--data", newFolder()])).toMatchObject({ code: 2, stderr: expect.stringContaining("PLAZA_CONTROL_KEY") });
});

test("D-171: a data folder's key is replaced, and a server that is killed meanwhile loses nothing", async () => {
  const data = newFolder();
  const env = { PLAZA_CONTROL_KEY: KEY };
  let plaza = await startPlaza(["--data", data], { env });
  await importApps(plaza);
  const secrets = await secretsOf(plaza);
  const first = readFileSync(join(data, "secret.key"), "utf8").trim();
  for (let round = 0; round < 3; round++) {
    const { previous } = await sealing(plaza, ["rotate-sealing"]);
    expect(previous).toHaveLength(round + 1);
    await plaza.end("SIGKILL");
    plaza = await startPlaza(["--data", data], { env });
    expect(await secretsOf(plaza)).toEqual(secrets);
  }
  await allSealed(plaza);
  await plaza.end();
  expect(readFileSync(join(data, "secret.key"), "utf8")).toContain(`${first} until `);
  const offline = await runPlaza(["key", "sealing", "--data", data]);
  expect(JSON.parse(offline.stdout)).toMatchObject({ waiting: 0 });
  expect(existsSync(join(data, "secret.key.new"))).toBe(false);
});

test("D-171: on PostgreSQL a new key takes over from the one in PLAZA_FURTHER_SECRET_KEYS, and a killed server loses nothing", async () => {
  const data = await (await sharedPostgres()).newDatabase();
  const [one, two] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
  const start = (PLAZA_SECRET_KEY: string, further = "") =>
    startPlaza(["--data", data, "--no-sandbox"], { env: { PLAZA_CONTROL_KEY: KEY, PLAZA_SECRET_KEY, PLAZA_FURTHER_SECRET_KEYS: further } });
  let plaza = await start(one);
  await importApps(plaza);
  const secrets = await secretsOf(plaza);
  await plaza.end();
  plaza = await start(two, one);
  await plaza.end("SIGKILL");
  plaza = await start(two, one);
  expect(await secretsOf(plaza)).toEqual(secrets);
  await allSealed(plaza);
  await plaza.end();
  plaza = await start(two);
  expect(await secretsOf(plaza)).toEqual(secrets);
  expect(await sealing(plaza)).toMatchObject({ previous: [], waiting: 0 });
});

test("D-170: a sandbox keeps the key that replaced its own, so the commands and the next start use it", async () => {
  const data = newFolder();
  const first = await startPlaza(["--data", data]);
  const key = (...args: string[]) => runPlaza(["key", ...args, "--data", data]);
  const rotated = JSON.parse((await key("rotate", "--overlap-seconds", "0")).stdout) as { key: string };
  expect(readFileSync(join(data, "control.key"), "utf8").trim()).toBe(rotated.key);
  expect((await key("list")).code).toBe(0);
  await first.end();
  const again = JSON.parse((await key("rotate", "--overlap-seconds", "0")).stdout) as { key: string };
  const second = await startPlaza(["--data", data]);
  expect(second.ready.control_key).toBe(again.key);
  expect((await second.control("GET", "clock")).status).toBe(200);
});
