/** Finds the server that the tests use: the server that the environment names, or else a server that this module starts for the whole process. */
import { spawn } from "node:child_process";
import { devNull } from "node:os";
import { pathToFileURL } from "node:url";
import { Connection, type Fetch } from "./connection.ts";
import { isOwnBun, plazaProgram, serverModule } from "./program.ts";
import type { GraphAddresses } from "./world.ts";

export interface Server {
  readonly addresses: GraphAddresses;
  readonly connection: Connection;
  /** Ends the server. If this module did not start the server, this function does nothing. */
  stop(): Promise<void>;
}

/** The ready line that `plaza start --json` prints. */
export type Ready = Readonly<
  Record<"base_url" | "app_base_url" | "microblog_base_url" | "ads_base_url" | "social_login_host" | "control_url", string>
>;

/** The environment variables that `plaza exec` sets, by the key of the ready line. */
const VARIABLES: Readonly<Record<keyof Ready | "control_key", string>> = {
  base_url: "PLAZA_BASE_URL",
  app_base_url: "PLAZA_APP_BASE_URL",
  microblog_base_url: "PLAZA_MICROBLOG_BASE_URL",
  ads_base_url: "PLAZA_ADS_BASE_URL",
  social_login_host: "PLAZA_SOCIAL_LOGIN_HOST",
  control_url: "PLAZA_CONTROL_URL",
  control_key: "PLAZA_CONTROL_KEY",
};

export const serverAt = (ready: Ready, key: string, stop: Server["stop"], fetch?: Fetch): Server => ({
  addresses: {
    baseUrl: ready.base_url,
    appBaseUrl: ready.app_base_url,
    microblogBaseUrl: ready.microblog_base_url,
    adsBaseUrl: ready.ads_base_url,
    socialLoginHost: ready.social_login_host,
  },
  connection: new Connection(ready.control_url, key, fetch),
  stop,
});

/** The server that the environment names; undefined if the environment names no server. */
function serverOfEnvironment(): Server | undefined {
  const { PLAZA_BASE_URL: base_url, PLAZA_CONTROL_URL: control_url, PLAZA_CONTROL_KEY: key } = process.env;
  if (base_url === undefined || control_url === undefined || key === undefined) return undefined;
  const named = Object.fromEntries(Object.entries(VARIABLES).map(([name, variable]) => [name, process.env[variable] ?? base_url]));
  return serverAt(named as unknown as Ready, key, async () => {});
}

/** The environment variables that lead other processes to this server. */
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
  /** The number of worlds that are open on the server. */
  worlds: number;
}

const SHARED: unique symbol = Symbol.for("plaza-graph/testing: server") as never;
/** The shared server. The server is kept in a global variable, because a test runner may load this module once for each test file. */
const kept = globalThis as { [SHARED]?: Shared | undefined };

/** Returns the server that runs already, or else starts a new server. */
export function sharedServer(): Promise<Server> {
  const found = serverOfEnvironment();
  if (found !== undefined) return Promise.resolve(found);
  kept[SHARED] ??= { server: startServer(), worlds: 0 };
  const { server } = kept[SHARED];
  // If the start failed, the server is forgotten, so that the next caller tries to start a server again.
  server.catch(() => {
    kept[SHARED] = undefined;
  });
  return server;
}

/** Ends the server if this process started it. If nobody calls this function, the server ends with the process. */
export async function stopServer(): Promise<void> {
  const started = kept[SHARED];
  kept[SHARED] = undefined;
  await (await started?.server)?.stop();
}

/**
 * Counts a new world. Returns the function to call at the end of the world. When the last world is closed, a server in a child process ends, because
 * nobody knows whether another world will follow.
 */
export function countWorld(): () => Promise<void> {
  const at = kept[SHARED];
  if (at === undefined) return async () => {};
  at.worlds++;
  return async () => {
    at.worlds--;
    if (at.worlds === 0 && at === kept[SHARED] && !isOwnBun()) await stopServer();
  };
}

/**
 * Starts a server. If the tests run on Plaza's own runtime, the server starts inside this process, which takes a fraction of the time of a child
 * process; otherwise the server starts as a child process.
 */
const startServer = (): Promise<Server> => (isOwnBun() ? startInside() : startBeside());

async function startInside(): Promise<Server> {
  const { startTestServer } = (await import(pathToFileURL(serverModule()).href)) as {
    startTestServer(): Promise<{ ready: Ready; controlKey: string; fetchControl: Fetch; stop(): Promise<void> }>;
  };
  const { ready, controlKey, fetchControl, stop } = await startTestServer();
  return serverAt(ready, controlKey, stop, fetchControl);
}

/** Starts a server as a child process. The child process ends when its channel to this process closes, so it also ends if this process is killed. */
async function startBeside(): Promise<Server> {
  const { program, args, folder } = plazaProgram();
  const options = ["--port", "0", "--control-port", "0", "--data", ":memory:", "--rtmp-port", "off", "--log-level", "error"];
  const child = spawn(program, [`--config=${devNull}`, "--no-env-file", "--no-install", ...args, "start", "--json", ...options], {
    // The child process runs outside the project's folder, because plaza.config.yaml and the environment variables of the project are for the
    // project's own server.
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
  // The child process must not keep the tests' process from ending.
  child.unref();
  child.channel?.unref();
  const ready = JSON.parse(line) as Ready & { readonly control_key: string };
  return serverAt(ready, ready.control_key, async () => {
    child.ref();
    child.kill("SIGTERM");
    await ended;
  });
}
