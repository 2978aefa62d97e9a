/**
 * `npm run first-webhook -- clone|package`: runs the first minutes of a new user as README.md describes them. A new user gets from `git clone`, or
 * from `npm install` in an empty project, to the first webhook in a handler with two commands. The program checks the signature of the webhook, and
 * prints how long each step took.
 */
import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, seconds } from "./steps.ts";

const beginnings = {
  clone: {
    install: async (folder: string) => {
      await run(folder, "git", "clone", "--quiet", "--depth", "1", `file://${ROOT}`, "plaza");
      return join(folder, "plaza");
    },
    start: ["npm", "start", "--"],
    plaza: ["bin/plaza"],
  },
  package: {
    install: async (folder: string) => {
      const consumer = join(folder, "consumer");
      mkdirSync(consumer);
      writeFileSync(join(consumer, "package.json"), `{ "name": "consumer", "version": "1.0.0" }`);
      await run(ROOT, "npm", "pack", "--silent", "--pack-destination", folder);
      const [tarball = ""] = new Bun.Glob("*.tgz").scanSync(folder);
      await run(consumer, "npm", "install", "--save-dev", "--no-audit", "--no-fund", join(folder, tarball));
      return consumer;
    },
    start: ["npx", "--no-install", "plaza", "start"],
    plaza: ["npx", "--no-install", "plaza"],
  },
} as const;

/** The secret of the demo app, which the server prints when it starts. */
const SECRET = "demo-app-secret";
const READY = "Plaza is ready.";
/** The server uses free ports, because another server on this machine may use the default ports. */
const env = { ...process.env, PLAZA_PORT: "0", PLAZA_CONTROL_PORT: "0", PLAZA_RTMP_PORT: "off" };

async function run(cwd: string, ...command: string[]): Promise<string> {
  const running = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text(), running.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

/** Starts the handler of the user, which stores the first webhook with a correct signature. */
function openHandler() {
  const first = Promise.withResolvers<string>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.text();
      const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
      if (request.headers.get("x-hub-signature-256") === signature) first.resolve(body);
      else first.reject(new Error(`the signature of ${body} is wrong`));
      return new Response("ok");
    },
  });
  return { url: `http://127.0.0.1:${server.port}/hook`, first: first.promise, stop: () => server.stop(true) };
}

async function untilReady(server: Bun.Subprocess<"ignore", "pipe", "pipe">): Promise<void> {
  const stderr = new Response(server.stderr).text();
  let text = "";
  for await (const part of server.stdout) {
    text += new TextDecoder().decode(part);
    if (text.includes(READY)) return;
  }
  throw new Error(`it ended with ${await server.exited}: ${text}${await stderr}`);
}

const kind = process.argv[2];
if (kind !== "clone" && kind !== "package") {
  console.error("say where to begin: clone or package");
  process.exit(2);
}
const { install, start, plaza } = beginnings[kind];
const folder = mkdtempSync(join(tmpdir(), "plaza-first-"));
const handler = openHandler();
let consumer: string | undefined;
try {
  const begunMs = performance.now();
  const since = (): string => seconds(performance.now() - begunMs);
  consumer = await install(folder);
  console.log(`${since()}: ${kind === "clone" ? "cloned" : "packed and installed"}`);
  const server = Bun.spawn([...start, "--callback", handler.url], { cwd: consumer, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  await untilReady(server);
  console.log(`${since()}: ready`);
  await run(consumer, ...plaza, "trigger", "messages");
  await handler.first;
  console.log(`${since()}: the first webhook has arrived in the user's own handler`);
} finally {
  handler.stop();
  endServer(consumer);
  rmSync(folder, { recursive: true, force: true });
}

/** Ends the server directly, because not every version of npm passes signals on to it. */
function endServer(where = ""): void {
  try {
    process.kill((JSON.parse(readFileSync(join(where, ".plaza/server.json"), "utf8")) as { pid: number }).pid, "SIGKILL");
  } catch {
    // No server was running.
  }
}
