/** Checks the commands about a server: status, stop, logs, doctor, init. */
import { afterEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { printedBy } from "#harness/cli/printed";
import { testOnPostgres } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { endAll, newFolder, PROGRAM, runPlaza, spawnPlaza, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

const ROOT = join(import.meta.dir, "../..");

test("plaza status shows the server that runs on the data, and plaza stop ends it", async () => {
  const cwd = newFolder();
  expect(await runPlaza(["status"], { cwd })).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining("no server runs on the data") });
  expect(await runPlaza(["stop"], { cwd })).toEqual({ code: 0, stdout: "", stderr: "no server runs on the data\n" });
  const plaza = await startPlaza([], { cwd });
  const { base_url, control_url, pid } = plaza.ready;
  const status = await runPlaza(["status"], { cwd });
  expect(status).toMatchObject({ code: 0, stderr: "" });
  expect(status.stdout).toMatch(/^Plaza \d+\.\d+\.\d+ runs\n/);
  for (const line of [
    `  graph        ${base_url}`,
    `  control API  ${control_url}/v1`,
    "  data         sqlite, a sandbox",
    "  world        default: strict",
  ])
    expect(status.stdout.split("\n")).toContain(line);
  await fetch(`${control_url}/v1/worlds/default/faults`, {
    method: "POST",
    headers: { authorization: `Bearer ${plaza.ready.control_key}` },
    body: JSON.stringify({ operation: "listLabels", status: 503 }),
  });
  // The status has the alerts of the server's world (D-279).
  expect((await runPlaza(["status"], { cwd })).stdout).toContain(
    "\n  notice       Fault 1 is in effect for requests of listLabels and has affected 0.",
  );
  const json = printedBy("status", (await runPlaza(["status", "--json"], { cwd })).stdout) as { alerts: object[] };
  expect(json.alerts).toMatchObject([{ kind: "fault", of: "1" }]);
  expect(json).toMatchObject({
    pid,
    base_url,
    data: "sqlite",
    sandbox: true,
    processes: 1,
    ready: true,
    callbacks: [],
    worlds: [{ name: "default" }],
  });
  expect(await runPlaza(["stop"], { cwd })).toEqual({ code: 0, stdout: `the server (process ${pid}) has ended\n`, stderr: "" });
  expect(await plaza.process.exited).toBe(0);
  expect(existsSync(join(cwd, ".plaza/server.json"))).toBeFalse();
  expect((await runPlaza(["status"], { cwd })).code).toBe(2);
});

test("a wrong key, a missing server, and a misspelt variable are reported", async () => {
  const cwd = newFolder();
  const { ready } = await startPlaza([], { cwd });
  const status = async (env: Record<string, string>) => (await runPlaza(["status"], { cwd, env })).stderr;
  expect(await status({ PLAZA_CONTROL_KEY: "replaced" })).toStartWith("plaza: the control key is wrong or was replaced");
  expect(await status({ PLAZA_CONTROL_URL: "http://127.0.0.1:1" })).toBe("plaza: --control-url: no server listens at http://127.0.0.1:1\n");
  expect(await status({ PLAZA_CONTROL_KYE: "replaced" })).toBe(
    "plaza: Plaza does not read the variable PLAZA_CONTROL_KYE; did you mean PLAZA_CONTROL_KEY?\n",
  );
  // Such environment variables belong to other programs or to features of Plaza, and the command does not know the variables of features.
  expect(await status({ PLAZA_SQUARE: "1", PLAZA_MESSAGES_MAX: "1" })).toBe("");
  const own = { PLAZA_CONTROL_URL: ready.control_url, PLAZA_CONTROL_KYE: "replaced" };
  expect((await runPlaza(["token", "list"], { cwd, env: own })).stderr).toContain("did you mean PLAZA_CONTROL_KEY?");
  expect(await runPlaza(["logs"], { cwd })).toEqual({ code: 0, stdout: "", stderr: "no requests\n" });
  const nobody = await runPlaza(["trigger", "messages"], { cwd });
  expect(nobody).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no app gets messages of 4001: app 1001 is not subscribed to messages"),
  });
});

test("plaza logs shows the last requests, follows further ones, and does not keep a server from ending", async () => {
  const cwd = newFolder();
  const plaza = await startPlaza([], { cwd });
  await plaza.page("personas");
  await plaza.page("custom_labels", "no-token");
  const { stdout, code } = await runPlaza(["logs"], { cwd });
  expect(code).toBe(0);
  const [first, second] = stdout.split("\n");
  expect(first).toMatch(/^\d{4}-\S+Z GET \/v26\.0\/2001\/personas 200 [\d.]+ ms listPersonas app 1001 A\S+$/);
  expect(second).toMatch(/ GET \/v26\.0\/2001\/custom_labels 403 [\d.]+ ms unknown A\S+: This world has no token with the value in Authorization/);
  expect(stdout).not.toContain("token=");
  expect((await runPlaza(["logs", "--operation", "listPersonas", "--json"], { cwd })).stdout).toMatch(
    /^\{[^\n]*"operation":"listPersonas"[^\n]*\}\n$/,
  );
  expect((await runPlaza(["logs", "--status", "x"], { cwd })).stderr).toContain("status");

  const following = spawnPlaza(["logs", "--follow", "--limit", "1"], { cwd });
  const reader = following.stdout.getReader();
  const decoder = new TextDecoder();
  let text = decoder.decode((await reader.read()).value);
  expect(text).toContain("custom_labels");
  await plaza.page("personas");
  while (!text.includes("personas")) text += decoder.decode((await reader.read()).value);
  expect(text.trim().split("\n")).toHaveLength(2);
  expect((await runPlaza(["stop"], { cwd })).code).toBe(0);
  expect(await following.exited).toBe(1);
  expect(await new Response(following.stderr).text()).toBe("plaza: the server has ended\n");
});

test("plaza logs reports that a followed world was deleted", async () => {
  const cwd = newFolder();
  const plaza = await startPlaza([], { cwd });
  writeFileSync(join(cwd, "world.json"), JSON.stringify({ apps: [{ id: "1001", name: "A" }], tokens: [{ token: "t", type: "app", app: "1001" }] }));
  expect((await runPlaza(["world", "new", "orders", "world.json"], { cwd })).code).toBe(0);
  // A request opens a world only if the request has a token of this world.
  await fetch(`${plaza.ready.base_url}/w/orders/v26.0/2001`, { headers: { authorization: "Bearer t" } });
  const following = spawnPlaza(["logs", "--follow", "--world-name", "orders"], { cwd });
  const { value } = await following.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toContain("/v26.0/2001");
  expect((await runPlaza(["world", "delete", "orders"], { cwd })).code).toBe(0);
  expect(await following.exited).toBe(1);
  expect(await new Response(following.stderr).text()).toBe("plaza: there is no world orders\n");
});

test("plaza doctor finds problems that keep a server from starting or working", async () => {
  const cwd = newFolder();
  const doctor = (args: readonly string[] = [], env: Record<string, string> = {}) => runPlaza(["doctor", ...args], { cwd, env });
  const ports = { PLAZA_PORT: "0", PLAZA_CONTROL_PORT: "0" };
  expect(await doctor([], ports)).toMatchObject({
    code: 0,
    stderr: "",
    stdout: expect.stringContaining("ok       data: the first start creates the folder .plaza\n"),
  });
  expect(await doctor([], { PLAZA_WORKERS: "two" })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("problem  configuration: PLAZA_WORKERS"),
  });
  expect((await doctor([], { ...ports, PLAZA_PROT: "1" })).stdout).toContain("warning  configuration: Plaza does not read the variable PLAZA_PROT");
  const plaza = await startPlaza([], { cwd });
  expect(await doctor()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`ok       server: process ${plaza.ready.pid} serves ${plaza.ready.base_url}\n`),
  });
  const taken = { PLAZA_PORT: new URL(plaza.ready.base_url).port, PLAZA_CONTROL_PORT: "0" };
  expect(await doctor(["--data", "elsewhere"], taken)).toMatchObject({ code: 1, stdout: expect.stringContaining("is in use by another program") });
  expect(existsSync(join(cwd, "elsewhere"))).toBeFalse();
  chmodSync(join(cwd, ".plaza/control.key"), 0o644);
  expect(await doctor()).toMatchObject({ code: 1, stdout: expect.stringContaining("run chmod 600 .plaza/control.key") });
});

testOnPostgres("several processes: status by address, a failing callback, and the end of all of them", async () => {
  const world = join(newFolder(), "world.yaml");
  // No program listens on the port of the callback.
  writeFileSync(
    world,
    `apps: [{id: "1001", callback: {url: "http://127.0.0.1:1/"}, subscriptions: [{object: page, fields: [custom_labels]}]}]
pages: [{id: "2001", subscribed_apps: [{app: "1001", subscribed_fields: [custom_labels]}]}]`,
  );
  const data = await (await sharedPostgres()).newDatabase();
  const { ready, process: server } = await startPlaza(["--data", data, "--workers", "2", "--world", world]);
  const env = { PLAZA_CONTROL_URL: ready.control_url, PLAZA_CONTROL_KEY: ready.control_key as string };
  expect((await runPlaza(["trigger", "custom_labels"], { env })).code).toBe(1);
  const status = await runPlaza(["status"], { env });
  expect(status).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /, 2 processes\n(?:.*\n)* {2}data +postgres, a sandbox\n(?:.*\n)* {2}callback +http:\/\/127\.0\.0\.1:1\/: failing\n/,
    ),
  });
  expect((await runPlaza(["doctor"], { env })).stdout).toContain("warning  webhooks: the callback http://127.0.0.1:1/ is failing");
  expect(await runPlaza(["stop"], { env })).toMatchObject({ code: 0, stderr: "" });
  expect(await server.exited).toBe(0);
  expect(await runPlaza(["status"], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining("no server listens at") });
});

test("plaza init creates files with which plaza start begins, and keeps existing ones", async () => {
  const cwd = newFolder();
  const { code, stdout, stderr } = await runPlaza(["init"], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toStartWith(
    "created config.schema.json\ncreated plaza.config.yaml\ncreated world.schema.json\ncreated world.yaml\ncreated .plaza/.gitignore\n",
  );
  for (const [file, schema] of [
    ["plaza.config.yaml", "config.schema.json"],
    ["world.yaml", "world.schema.json"],
  ] as const) {
    expect(readFileSync(join(cwd, file), "utf8")).toStartWith(`# yaml-language-server: $schema=${schema}\n`);
    expect(JSON.parse(readFileSync(join(cwd, schema), "utf8"))).toEqual(JSON.parse(readFileSync(join(ROOT, "docs/reference", schema), "utf8")));
  }
  // The command `plaza` as a person types it in the test's folder, if the clone is in another folder.
  expect(stdout).toContain(`\n  ${relative(cwd, join(ROOT, "bin/plaza"))} start\n`);
  expect(readFileSync(join(cwd, ".plaza/.gitignore"), "utf8")).toBe("*\n");
  for (let starts = 0; starts < 2; starts++) {
    const plaza = await startPlaza([], { cwd });
    const response = await fetch(`${plaza.ready.base_url}/v26.0/2001/custom_labels?access_token=my-page-token`);
    expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 200, body: { data: [] } });
    expect((await plaza.end()).code).toBe(0);
  }
  writeFileSync(join(cwd, "world.yaml"), "pages: []\n");
  const again = await runPlaza(["init"], { cwd });
  const files = ["config.schema.json", "plaza.config.yaml", "world.schema.json", "world.yaml", ".plaza/.gitignore"];
  expect(again.stderr).toBe(files.map((file) => `${file} exists already and is not changed\n`).join(""));
  expect(readFileSync(join(cwd, "world.yaml"), "utf8")).toBe("pages: []\n");
});

test("if the project has the package, the files of plaza init name the package's schemas", async () => {
  const cwd = newFolder();
  const reference = "node_modules/plaza-graph/docs/reference";
  mkdirSync(join(cwd, reference), { recursive: true });
  for (const name of ["world", "config"]) writeFileSync(join(cwd, reference, `${name}.schema.json`), "{}");
  const { stdout } = await runPlaza(["init"], { cwd });
  expect(stdout).toStartWith("created plaza.config.yaml\ncreated world.yaml\ncreated .plaza/.gitignore\n\n");
  expect(stdout).toContain("\n  npx --no-install plaza start\n");
  expect(readFileSync(join(cwd, "world.yaml"), "utf8")).toStartWith(`# yaml-language-server: $schema=${reference}/world.schema.json\n`);
});

test("the control API can be reached only by its port: no file represents it that could be deleted or left by a killed server", async () => {
  const cwd = newFolder();
  const temporary = newFolder();
  const env = { TMPDIR: temporary };
  await (await startPlaza([], { cwd, env })).end("SIGKILL");
  const plaza = await startPlaza([], { cwd, env });
  const sockets = readdirSync(join(cwd, ".plaza")).filter((name) => statSync(join(cwd, ".plaza", name)).isSocket());
  expect([...sockets, ...readdirSync(temporary)]).toEqual([]);
  expect((await plaza.control("GET", "clock")).status).toBe(200);
  expect((await plaza.end()).code).toBe(0);
});

test("a command whose reader has closed the output ends quietly", () => {
  // The command `true` ends at once. The shell starts `plaza` only after `true` has ended, so the first byte of the output finds no reader.
  const commands = ["start --help", "--version", "completion bash"];
  const ended = commands.map((words) => {
    const script = `exec 3> >(true); wait $!; "$0" ${words} >&3; echo $?`;
    const { stdout, stderr } = Bun.spawnSync(["bash", "-c", script, PROGRAM]);
    return { words, code: stdout.toString().trim(), stderr: stderr.toString() };
  });
  expect(ended).toEqual(commands.map((words) => ({ words, code: "0", stderr: "" })));
});
