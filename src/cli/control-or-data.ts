/** Commands that ask the control API of a running server, or open the data themselves while no server uses it. */
import { ConfigProblem } from "#config/config";
import { findConfigFile } from "#config/config-file";
import { environment } from "#config/environment";
import { readConfig } from "#config/read-config";
import { trimmedEnd } from "#kernel/text";
import { Log } from "#telemetry/log";
import { exitCodeOf, explain } from "./process-end.ts";

export type Given = Readonly<Record<string, unknown>>;

export interface Control {
  request(path: string, init: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

const FAILED = 1;

/** Resolves with the exit code. `isKeyReplaced`: the configured key is what the command is about, also where it opens the data itself. */
export async function withControl(given: Given, run: (control: Control) => Promise<number>, isKeyReplaced = false): Promise<number> {
  const log = new Log({ level: "error", isPretty: true });
  try {
    const control = await openControlFor(given, log, isKeyReplaced);
    try {
      return await run(control);
    } finally {
      await control.close();
    }
  } catch (error) {
    explain(error, log);
    if (error instanceof Error && error.name === "FolderInUse")
      process.stderr.write("plaza: to ask the server that uses the data, set --control-url and --control-key\n");
    await log.flush();
    return exitCodeOf(error);
  }
}

async function openControlFor(given: Given, log: Log, isKeyReplaced: boolean): Promise<Control> {
  const { PLAZA_CONTROL_URL, PLAZA_CONTROL_KEY } = environment();
  const url = given.control_url ?? (given.data === undefined ? PLAZA_CONTROL_URL : undefined);
  if (url !== undefined) return controlAt(String(url), given.control_key ?? PLAZA_CONTROL_KEY);
  const [{ openControl }, { settings }] = await Promise.all([import("#main"), import("#features")]);
  const config = readConfig(given.data === undefined ? {} : { data: given.data }, environment(), await findConfigFile(), settings);
  if (!isKeyReplaced) return openControl(config, log);
  if (config.control_key === undefined) throw new ConfigProblem("PLAZA_CONTROL_KEY", "is required: it is the key that is replaced");
  return openControl(config, log, config.control_key);
}

function controlAt(url: string, key: unknown): Control {
  if (!URL.canParse(url)) throw new ConfigProblem("--control-url", `"${url}" is not an address`);
  if (key === undefined) throw new ConfigProblem("--control-key", "is required with --control-url; you can also set PLAZA_CONTROL_KEY");
  const base = trimmedEnd(url, "/").replace(/\/v1$/, "");
  return {
    async request(path, init) {
      try {
        return await fetch(base + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } });
      } catch (error) {
        throw new ConfigProblem("--control-url", `${base} could not be reached: ${error instanceof Error ? error.message : error}`);
      }
    },
    close: async () => {},
  };
}

export const post = (control: Control, path: string, body: unknown): Promise<Response> =>
  control.request(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });

export async function show(response: Response): Promise<number> {
  const body = (await response.json()) as { error?: { message: string } };
  if (!response.ok) return refuse(response, body);
  process.stdout.write(`${JSON.stringify(body, undefined, 2)}\n`);
  return 0;
}

function refuse(response: Response, body: { error?: { message: string } }): number {
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
