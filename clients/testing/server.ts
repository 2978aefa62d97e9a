/** The server of the tests: the one that the environment names, or one that is started here and shared by the whole process. */
import { spawn } from "node:child_process";
import { devNull } from "node:os";
import { pathToFileURL } from "node:url";
import { Connection } from "./connection.ts";
import { isOwnBun, plazaProgram, serverModule } from "./program.ts";
import type { GraphAddresses } from "./world.ts";

export interface Server {
  readonly addresses: GraphAddresses;
  readonly connection: Connection;
  /** Does not end a server that was not started here. */
  stop(): Promise<void>;
}

/** A ready line of `plaza start --json`. */
type Ready = Readonly<Record<"base_url" | "app_base_url" | "microblog_base_url" | "ads_base_url" | "social_login_host" | "control_url", string>>;

/** The variables of `plaza exec`. */
const VARIABLES: Readonly<Record<keyof Ready | "control_key", string>> = {
  base_url: "PLAZA_BASE_URL",
  app_base_url: "PLAZA_APP_BASE_URL",
  microblog_base_url: "PLAZA_MICROBLOG_BASE_URL",
  ads_base_url: "PLAZA_ADS_BASE_URL",
  social_login_host: "PLAZA_SOCIAL_LOGIN_HOST",
  control_url: "PLAZA_CONTROL_URL",
  control_key: "PLAZA_CONTROL_KEY",
};

const serverAt = (ready: Ready, key: string, stop: Server["stop"]): Server => ({
  addresses: {
    baseUrl: ready.base_url,
    appBaseUrl: ready.app_base_url,
    microblogBaseUrl: ready.microblog_base_url,
    adsBaseUrl: ready.ads_base_url,
    socialLoginHost: ready.social_login_host,
  },
  connection: new Connection(ready.control_url, key),
  stop,
});

/** The server that the environment names, or undefined. */
function serverOfEnvironment(): Server | undefined {
  const { PLAZA_BASE_URL: base_url, PLAZA_CONTROL_URL: control_url, PLAZA_CONTROL_KEY: key } = process.env;
  if (base_url === undefined || control_url === undefined || key === undefined) return undefined;
  const named = Object.fromEntries(Object.entries(VARIABLES).map(([name, variable]) => [name, process.env[variable] ?? base_url]));
  return serverAt(named as unknown as Ready, key, async () => {});
}

/** The variables that lead other processes to a server. */
export const variablesOf = ({ addresses, connection }: Server): Readonly<Record<string, string>> => ({
  [VARIABLES.base_url]: addresses.baseUrl,
  [VARIABLES.app_base_url]: addresses.appBaseUrl,
  [VARIABLES.microblog_base_url]: addresses.microblogBaseUrl,
  [VARIABLES.ads_base_url]: addresses.adsBaseUrl,
  [VARIABLES.social_login_host]: addresses.socialLoginHost,
  [VARIABLES.control_url]: connection.url,
  [VARIABLES.control_key]: connection.key,
});

interface Shared {
  readonly server: Promise<Server>;
  /** How many worlds are open on it. */
  worlds: number;
}

const SHARED: unique symbol = Symbol.for("plaza-graph/testing: server") as never;
/** Kept beside all modules: a runner may load this one once for each test file. */
const kept = globalThis as { [SHARED]?: Shared | undefined };

/** The running server, or a new one. */
export function sharedServer(): Promise<Server> {
  const found = serverOfEnvironment();
  if (found !== undefined) return Promise.resolve(found);
  kept[SHARED] ??= { server: startServer(), worlds: 0 };
  const { server } = kept[SHARED];
  // The next one tries again.
  server.catch(() => {
    kept[SHARED] = undefined;
  });
  return server;
}

/** Ends the server that this process has started, if it has. It ends with the process anyway. */
export async function stopServer(): Promise<void> {
  const started = kept[SHARED];
  kept[SHARED] = undefined;
  await (await started?.server)?.stop();
}

/** Returns the function for the end of the world. A child process without worlds ends, because nobody knows whether another world comes. */
export function countWorld(): () => Promise<void> {
  const at = kept[SHARED];
  if (at === undefined) return async () => {};
  at.worlds++;
  return async () => {
    at.worlds--;
    if (at.worlds === 0 && at === kept[SHARED] && !isOwnBun()) await stopServer();
  };
}

/** In this process if it runs on Plaza's own runtime, which takes a fraction of the time; else as a child process. */
const startServer = (): Promise<Server> => (isOwnBun() ? startInside() : startBeside());

async function startInside(): Promise<Server> {
  const { startTestServer } = (await import(pathToFileURL(serverModule()).href)) as {
    startTestServer(): Promise<{ ready: Ready; controlKey: string; stop(): Promise<void> }>;
  };
  const { ready, controlKey, stop } = await startTestServer();
  return serverAt(ready, controlKey, stop);
}

/** A child ends when the channel to this process closes, however this process ends. */
async function startBeside(): Promise<Server> {
  const { program, args, folder } = plazaProgram();
  const options = ["--port", "0", "--control-port", "0", "--data", ":memory:", "--rtmp-port", "off", "--log-level", "error"];
  const child = spawn(program, [`--config=${devNull}`, "--no-env-file", "--no-install", ...args, "start", "--json", ...options], {
    // Outside the project, because its plaza.config.yaml and its variables are for its own server.
    cwd: folder,
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PLAZA_"))),
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`plaza start ended with ${code} before it was ready`)));
    child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (text.includes("\n")) resolve(text);
    });
  });
  child.stdout?.destroy();
  // It must not keep the tests from ending.
  child.unref();
  child.channel?.unref();
  const ready = JSON.parse(line) as Ready & { readonly control_key: string };
  return serverAt(ready, ready.control_key, async () => {
    child.ref();
    child.kill("SIGTERM");
    await ended;
  });
}
