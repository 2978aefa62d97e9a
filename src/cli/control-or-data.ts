/** Commands that ask the control API of a running server, or open the data themselves while no server uses it. */
import { ConfigProblem } from "#config/config";
import { findConfigFile } from "#config/config-file";
import { environment } from "#config/option";
import { commandWarnings, readConfig } from "#config/read-config";
import { findServer } from "#config/server-files";
import { EVENT_STREAM, readEvents } from "#control-contract/event-stream";
import { hasData } from "#storage/open";
import { Log } from "#telemetry/log";
import { findServerAddress, type ServerAddress, unreachable } from "./control-client.ts";
import { exitCodeOf, explain } from "./process-end.ts";

export type Given = Readonly<Record<string, unknown>>;

export interface Control {
  request(path: string, init: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

const FAILED = 1;

export interface ControlUse {
  /** The configured key is what the command is about, also where it opens the data itself. */
  readonly isKeyReplaced?: boolean;
  /** Where there is no data yet, the command makes it. Any other has nothing to work on, and would make an empty folder. */
  readonly makesData?: boolean;
}

/** Resolves with the exit code. */
export async function withControl(given: Given, run: (control: Control) => Promise<number>, use: ControlUse = {}): Promise<number> {
  const log = new Log({ level: "error", isPretty: true });
  for (const warning of commandWarnings(environment())) process.stderr.write(`plaza: ${warning}\n`);
  try {
    const control = await openControlFor(given, log, use);
    try {
      return await run(control);
    } finally {
      await control.close();
    }
  } catch (error) {
    explain(error, log);
    if (error instanceof Error && error.name === "FolderInUse")
      process.stderr.write("plaza: to ask the server that uses the data, set --control-url and PLAZA_CONTROL_KEY\n");
    await log.flush();
    return exitCodeOf(error);
  }
}

async function openControlFor(given: Given, log: Log, { isKeyReplaced = false, makesData = false }: ControlUse): Promise<Control> {
  const server = await findServerAddress(given);
  if (server !== undefined) return controlAt(server);
  const [{ openControl }, { settings }] = await Promise.all([import("#main"), import("#features")]);
  const config = readConfig(given.data === undefined ? {} : { data: given.data }, environment(), await findConfigFile(given), settings);
  if (!makesData && !hasData(config.data, "default"))
    throw new ConfigProblem("--data", `there is no data in ${config.data}; plaza start or plaza token create-app makes it`);
  if (!isKeyReplaced) return openControl(config, log);
  const key = config.control_key ?? findServer(config.data).controlKey;
  if (key === undefined) throw new ConfigProblem("PLAZA_CONTROL_KEY", "is required: it is the key that is replaced");
  return openControl(config, log, key);
}

function controlAt({ url, key, tls }: ServerAddress): Control {
  return {
    async request(path, init) {
      try {
        return await fetch(url + path, { ...init, tls, headers: { ...init.headers, authorization: `Bearer ${key}` } });
      } catch (error) {
        throw unreachable(url, error);
      }
    },
    close: async () => {},
  };
}

export const post = (control: Control, path: string, body: unknown): Promise<Response> =>
  control.request(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });

/** For long work: `onProgress` is called as it goes on, and `onEnd` before anything is printed. */
export async function showAtItsEnd(response: Response, onProgress: (done: number, total: number) => void, onEnd: () => void): Promise<number> {
  // Refused before it began, or by a server that says nothing until the end.
  if (response.headers.get("content-type") !== EVENT_STREAM) {
    onEnd();
    return show(response);
  }
  for await (const { event, value } of readEvents<Returned & { done: number; total: number }>(response)) {
    if (event === "progress") onProgress(value.done, value.total);
    else {
      onEnd();
      return event === "error" ? refuse(response, value) : print(value);
    }
  }
  throw new Error("the server ended before it said how this ended: plaza world export shows what is stored");
}

interface Returned {
  readonly error?: { readonly message: string };
  readonly warnings?: readonly string[];
}

export async function show(response: Response): Promise<number> {
  const body = (await response.json()) as Returned;
  return response.ok ? print(body) : refuse(response, body);
}

function print({ warnings = [], ...body }: Returned): number {
  for (const warning of warnings) process.stderr.write(`plaza: ${warning}\n`);
  process.stdout.write(`${JSON.stringify(body, undefined, 2)}\n`);
  return 0;
}

function refuse(response: Response, body: Returned): number {
  process.stderr.write(`plaza: ${body.error?.message ?? `the control API returned ${response.status}`}\n`);
  return FAILED;
}

/** Prints one entry of a list per line. */
export async function listAll(control: Control, path: string): Promise<number> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const response: Response = await control.request(next, { method: "GET" });
    const body = (await response.json()) as { data?: unknown[]; paging?: { next?: string }; error?: { message: string } };
    if (!response.ok) return refuse(response, body);
    for (const entry of body.data ?? []) process.stdout.write(`${JSON.stringify(entry)}\n`);
    const link: string | undefined = body.paging?.next;
    next = link === undefined ? undefined : new URL(link).pathname + new URL(link).search;
  }
  return 0;
}
