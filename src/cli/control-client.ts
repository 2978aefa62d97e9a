/**
 * Sends the requests of the program's commands to the control API of a server. The requests go to the server that an option names, or to the
 * server that runs on the command's data. If no server runs, the command starts a control API in its own process.
 */
import { ConfigProblem } from "#config/config";
import { findConfigFile, readConfigOfCommand } from "#config/config-file";
import { environment } from "#config/option";
import { commandWarnings } from "#config/read-config";
import { environmentWithSecrets } from "#config/secret-files";
import { findServer, isFolder } from "#config/server-files";
import { type ControlRequests, type Endpoint, NO_PROXY, requestsTo } from "#control/client/requests";
import { trimmedEnd } from "#kernel/text";
import { hasData } from "#storage/open";
import { Log } from "#telemetry/log";
import { exitCodeOf, report } from "./process-end.ts";
import { directTo } from "./proxies.ts";
import { note } from "./terminal/output.ts";

/** The options of a command, by name. */
export type Given = Readonly<Record<string, unknown>>;

export const controlRequests = async (given: Given): Promise<ControlRequests> => requestsOf(endpointOf(await serverAddress(given)), given);

const endpointOf = ({ url, key, connection }: ServerAddress): Endpoint => ({
  ...{ url, key },
  fetch: (address, init) => fetch(address, { ...init, ...connection }),
});

/** Returns a client for the command's world. If the server does not respond, the error names the option with the server's address. */
const requestsOf = ({ url, key, fetch: send }: Endpoint, { world_name = "default" }: Given): ControlRequests => {
  const sendOrExplain: Endpoint["fetch"] = async (address, init) => {
    try {
      return await send(address, init);
    } catch (error) {
      throw unreachable(url, error);
    }
  };
  return requestsTo({ url, key, fetch: sendOrExplain }, String(world_name));
};

type Run = (control: ControlRequests) => Promise<number>;

/**
 * Calls `run` with the server of the command. Resolves with the exit code. If the API refuses a request, or if the server cannot be reached, one
 * line on stderr says so. If no option gives a server and no server runs on the data, this function calls `ifNone` instead of `run`.
 */
export function withServer(given: Given, run: Run, ifNone?: () => number): Promise<number> {
  for (const warning of commandWarnings(environment())) note(`plaza: ${warning}`);
  return exitCodeOf(async () => {
    if (ifNone !== undefined && !(await mayHaveServer(given))) return ifNone();
    return run(await controlRequests(given));
  });
}

export interface PrivateUse {
  /** Whether the command replaces the configured control key, so that the private control API must have that key too. */
  readonly isKeyReplaced?: boolean;
  /**
   * Whether the command may create the data folder. If this is not set, the command may not create the folder, because
   * it would leave the folder empty.
   */
  readonly makesData?: boolean;
}

/**
 * Works like `withServer`, but also works without a running server. If no option gives a server and no server runs on the data, the command opens
 * the data and calls the control API in its own process.
 */
export async function withOwnServer(given: Given, run: Run, use: PrivateUse = {}): Promise<number> {
  const log = new Log({ level: "error", isPretty: true });
  try {
    if ((await findServerAddress(given)) !== undefined) return await withServer(given, run);
    for (const warning of commandWarnings(environment())) note(`plaza: ${warning}`);
    const { stop, key, fetch } = await startOwnServer(given, log, use);
    const endpoint: Endpoint = { url: OWN_URL, key, fetch: (address, init) => fetch(new Request(address, init)) };
    return await run(requestsOf(endpoint, given)).finally(stop);
  } catch (error) {
    const code = await report(error, log);
    if (error instanceof Error && error.name === "FolderInUse")
      note("plaza: to ask the server that uses the data, set --control-url and PLAZA_CONTROL_KEY");
    return code;
  }
}

/** The base address of the links in lists. No server listens at the base address of the links, because the control API runs in this process. */
const OWN_URL = "http://localhost";

async function startOwnServer(given: Given, log: Log, { isKeyReplaced = false, makesData = false }: PrivateUse) {
  const [{ startControlAlone }, { settings }] = await Promise.all([import("#main"), import("#features")]);
  const config = await readConfigOfCommand(given, settings);
  if (!makesData && !hasData(config.data, "default"))
    throw new ConfigProblem("--data", `there is no data in ${config.data}; plaza start or plaza token create-app creates it`);
  if (!isKeyReplaced) return startControlAlone(config, log);
  const key = config.control_key ?? findServer(config.data).controlKey;
  if (key === undefined) throw new ConfigProblem("PLAZA_CONTROL_KEY", "is required: set it to the control key that you want to replace");
  return startControlAlone(config, log, key);
}

/**
 * The server that a command uses: the server in its options, otherwise in the environment variables, otherwise the
 * server that runs on the data folder.
 */
export interface ServerAddress {
  /** The address of the control API without `/v1` and without a slash at the end. */
  readonly url: string;
  readonly key: string;
  /** The options of `fetch` for requests to the server. */
  readonly connection: BunFetchRequestInit;
}

/**
 * The options of `fetch` for an address that is from the server's own file. The certificate does not contain the address in the file, which is an
 * address of this machine, so the host name is not checked. The authority that signed the certificate is still checked.
 */
const ON_THIS_MACHINE: BunFetchRequestInit = { tls: { checkServerIdentity: () => undefined }, proxy: NO_PROXY };

const DEFAULT_DATA = ".plaza";
const DEFAULT_URL = "http://127.0.0.1:4001";

/** The data folder or database that `plaza start` would use. */
async function dataOf(given: Given): Promise<string> {
  return String(given.data ?? environmentWithSecrets().PLAZA_DATA ?? (await findConfigFile(given))?.values.data ?? DEFAULT_DATA);
}

/**
 * Finds the server that an option or variable gives, or that runs on the data. Returns undefined if neither an option, a variable
 * nor the data leads to a server.
 */
export async function findServerAddress(given: Given): Promise<ServerAddress | undefined> {
  const { PLAZA_CONTROL_URL, PLAZA_CONTROL_KEY } = environmentWithSecrets();
  const data = await dataOf(given);
  // The option `--data` has precedence over the variable PLAZA_CONTROL_URL.
  const named = given.control_url ?? (given.data === undefined ? PLAZA_CONTROL_URL : undefined);
  const found = findServer(data);
  const url = named ?? found.info?.control_url;
  if (url === undefined) return undefined;
  if (typeof url !== "string" || !URL.canParse(url)) throw new ConfigProblem("--control-url", `"${url}" is not an address`);
  const key = given.control_key ?? PLAZA_CONTROL_KEY ?? found.controlKey;
  if (key === undefined) throw new ConfigProblem("PLAZA_CONTROL_KEY", `is required: neither this variable nor ${data} has a control key`);
  return { url: trimmedEnd(url, "/").replace(/\/v1$/, ""), key: String(key), connection: named === undefined ? ON_THIS_MACHINE : directTo(url) };
}

/** Makes the error for a request that got no response. */
function unreachable(url: string, error: unknown): ConfigProblem {
  const isRefused = error instanceof Error && "code" in error && ["ECONNREFUSED", "ConnectionRefused"].includes(String(error.code));
  const problem = isRefused ? `no server listens at ${url}` : `${url} could not be reached: ${error instanceof Error ? error.message : error}`;
  return new ConfigProblem("--control-url", problem);
}

/** The message of a command that needs a server and finds none. */
export const NO_SERVER =
  "no server runs on the data of this folder: start one with plaza start; a server with --data :memory: prints a line of variables that you can paste here";

/** Finds the server of the command. If neither an option nor the data leads to a server, the command tries the default port. */
export async function serverAddress(given: Given): Promise<ServerAddress> {
  const found = await findServerAddress(given);
  if (found !== undefined) return found;
  if ((given.control_key ?? environmentWithSecrets().PLAZA_CONTROL_KEY) === undefined) throw new ConfigProblem("--control-url", NO_SERVER);
  return (await findServerAddress({ ...given, control_url: DEFAULT_URL })) as ServerAddress;
}

/**
 * Returns false if the files in the data folder show that no server runs on the folder. For a database the function returns true, because a
 * server may run at the default port.
 */
export async function mayHaveServer(given: Given): Promise<boolean> {
  return (await findServerAddress(given)) !== undefined || !isFolder(await dataOf(given));
}

/** Returns the process id of the server on this machine that uses the data. */
export const pidOnData = async (given: Given): Promise<number | undefined> => findServer(await dataOf(given)).info?.pid;
