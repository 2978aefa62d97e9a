import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { sharedPostgres } from "#harness/postgres-cluster";
import { withDist } from "./dist.ts";
import { newFolder, readyLine, removeFolders, run } from "./installed.ts";

const ROOT = join(import.meta.dir, "../..");
/** The time limit of a build, because other processes may be packing first. */
const BUILD_MS_MAX = 600_000;

/** The executable is moved away from the repository, so that it cannot use files of the repository. */
let program = "";
const running: Bun.Subprocess[] = [];

beforeAll(async () => {
  program = join(newFolder(), "plaza");
  await withDist(async () => {
    await run(ROOT, ["npm", "run", "--silent", "build"]);
    copyFileSync(join(ROOT, "dist/plaza"), program);
  });
}, BUILD_MS_MAX);
afterEach(async () => {
  for (const server of running.splice(0)) {
    server.kill("SIGKILL");
    await server.exited;
  }
});
afterAll(removeFolders);

async function start(cwd: string, args: readonly string[]) {
  const command = [program, "start", "--json", "--port", "0", "--control-port", "0", ...args];
  const server = Bun.spawn(command, { cwd, env: { PATH: "" }, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  running.push(server);
  return { server, ready: await readyLine(server.stdout, new Response(server.stderr).text()) };
}

test("one file serves the demo world, whatever another project's settings in its folder are", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, ".env"), "PLAZA_PORT=abc\n");
  writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./nowhere.ts"]\n');
  const { server, ready } = await start(cwd, []);
  expect(ready.pid).toBe(server.pid);
  const headers = { authorization: "Bearer demo-page-token" };
  const page = await fetch(`${ready.base_url}/v26.0/2001/personas?access_token=demo-page-token&oauth_token=demo-page-token`, { headers });
  expect(page.status).toBe(200);
  expect((await fetch(`${ready.base_url}/openapi.json`)).status).toBe(200);
  expect(await (await fetch(`${ready.base_url}/player/hls.js`)).text()).toBe(readFileSync(join(ROOT, "node_modules/hls.js/dist/hls.min.js"), "utf8"));
  expect(await (await fetch(ready.control_url, { headers: { accept: "text/html" } })).text()).toContain('<script type="module" src="/assets/main');
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
  expect(existsSync(join(cwd, ".plaza/default.sqlite"))).toBeTrue();
  // The command `plaza` as a person types it in that folder.
  expect(await run(cwd, [program, "init"])).toContain(`  ${relative(cwd, program)} start\n`);
});

test("it starts its own workers", async () => {
  const { server, ready } = await start(newFolder(), ["--workers", "2", "--data", await (await sharedPostgres()).newDatabase()]);
  expect((await fetch(`${ready.base_url}/openapi.json`)).status).toBe(200);
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});

test("it runs a command with a server of its own", async () => {
  const script = "fetch(process.env.PLAZA_BASE_URL + '/openapi.json').then(({ status }) => process.exit(status === 200 ? 3 : 1))";
  const running = Bun.spawn([program, "exec", "--", "node", "-e", script], { cwd: newFolder(), stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text(), running.exited]);
  expect({ code, stdout, stderr }).toEqual({ code: 3, stdout: "", stderr: "" });
});
