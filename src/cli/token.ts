/** `plaza token …`: uses the control API of a running server, or opens the data itself while no server uses it. */
import { ConfigProblem } from "#config/config";
import { findConfigFile } from "#config/config-file";
import { environment } from "#config/environment";
import { readConfig } from "#config/read-config";
import { hasData } from "#storage/open";
import { Log } from "#telemetry/log";
import { exitCodeOf, explain } from "./process-end.ts";
import { findServerAddress, type ServerAddress } from "./running-server.ts";

type Given = Readonly<Record<string, unknown>>;

interface Control {
  request(path: string, init: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

const FAILED = 1;

export async function runTokenCommand(command: string, given: Given): Promise<number> {
  const log = new Log({ level: "error", isPretty: true });
  try {
    const control = await openControlFor(command, given, log);
    try {
      return await run(control, command, given, `/v1/worlds/${encodeURIComponent(String(given.world_name))}`);
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

async function openControlFor(command: string, given: Given, log: Log): Promise<Control> {
  const server = await findServerAddress(given);
  if (server !== undefined) return controlAt(server);
  const [{ openControl }, { settings }] = await Promise.all([import("#main"), import("#features")]);
  const config = readConfig(given.data === undefined ? {} : { data: given.data }, environment(), await findConfigFile(), settings);
  // The first app may be made before the first start. Anything else has nothing to work on, and would make an empty folder.
  if (command !== "create-app" && !hasData(config.data, "default"))
    throw new ConfigProblem("--data", `there is no data in ${config.data}; plaza start or plaza token create-app makes it`);
  return openControl(config, log);
}

function controlAt({ url, key }: ServerAddress): Control {
  return {
    async request(path, init) {
      try {
        return await fetch(url + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } });
      } catch (error) {
        throw new ConfigProblem("--control-url", `${url} could not be reached: ${error instanceof Error ? error.message : error}`);
      }
    },
    close: async () => {},
  };
}

async function run(control: Control, command: string, given: Given, world: string): Promise<number> {
  switch (command) {
    case "mint":
      return show(await post(control, `${world}/tokens`, tokenOf(given)));
    case "create-app":
      return show(await post(control, `${world}/nodes/apps`, given.id === undefined ? { name: given.name } : { id: given.id, name: given.name }));
    case "revoke":
      return show(await control.request(`${world}/tokens/${encodeURIComponent(String(given.id))}`, { method: "DELETE" }));
    case "list":
      return listAll(control, `${world}/tokens?limit=1000`);
    default:
      throw new Error(`there is no command token ${command}`);
  }
}

const post = (control: Control, path: string, body: unknown): Promise<Response> =>
  control.request(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });

function tokenOf(given: Given): Record<string, unknown> {
  const { type, app, user, page, social_account, microblog_user, scopes, expires_at } = given;
  const seconds = typeof expires_at === "string" && /^\d+$/.test(expires_at) ? Number(expires_at) : expires_at;
  const listed = typeof scopes === "string" ? scopes.split(",").filter((scope) => scope !== "") : undefined;
  const entry = { type, app, user, page, social_account, microblog_user, scopes: listed, expires_at: seconds };
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

async function show(response: Response): Promise<number> {
  const { warnings = [], ...body } = (await response.json()) as { error?: { message: string }; warnings?: string[] };
  if (!response.ok) return refuse(response, body);
  for (const warning of warnings) process.stderr.write(`plaza: ${warning}\n`);
  process.stdout.write(`${JSON.stringify(body, undefined, 2)}\n`);
  return 0;
}

function refuse(response: Response, body: { error?: { message: string } }): number {
  process.stderr.write(`plaza: ${body.error?.message ?? `the control API returned ${response.status}`}\n`);
  return FAILED;
}

/** Prints one token per line. */
async function listAll(control: Control, path: string): Promise<number> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const response: Response = await control.request(next, { method: "GET" });
    const body = (await response.json()) as { data?: unknown[]; paging?: { next?: string }; error?: { message: string } };
    if (!response.ok) return refuse(response, body);
    for (const token of body.data ?? []) process.stdout.write(`${JSON.stringify(token)}\n`);
    const link: string | undefined = body.paging?.next;
    next = link === undefined ? undefined : new URL(link).pathname + new URL(link).search;
  }
  return 0;
}
