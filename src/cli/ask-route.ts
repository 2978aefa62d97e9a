/** Sends the request of a command of `route-commands.ts`, and prints the response. */
import { ConfigProblem } from "#config/config";
import { type ControlRequests, entriesOf, expectSeen } from "#control/client/requests";
import { type Given, type PrivateUse, withOwnServer, withServer } from "./control-client.ts";
import { FAILED, linesOf, note, printable, readTextFile, say } from "./terminal/output.ts";

/** The form of a parameter on the command line. A `time` is a number or a text; `pairs` and `file` give the request body of a node. */
export type Shape = "text" | "id" | "number" | "time" | "switch" | "list" | "json" | "pairs" | "file";

export interface Parameter {
  readonly place: "path" | "query" | "body";
  /** The name of the parameter in the request. */
  readonly name: string;
  /** The name of the parameter's option on the command line, without `--`. */
  readonly flag: string;
  readonly shape: Shape;
  readonly description: string;
  readonly isRequired: boolean;
  readonly choices?: readonly string[];
}

export interface AskedRoute {
  readonly operation: string;
  readonly method: string;
  /** The path of the route. In the path, `{name}` stands for a parameter; each command has an option for `{world_name}`. */
  readonly path: string;
  readonly args: readonly Parameter[];
  readonly options: readonly Parameter[];
  /** The values in the path or the body that the command always sends. */
  readonly sends: Readonly<Record<string, unknown>>;
  readonly isList: boolean;
  readonly isPaged: boolean;
  readonly hasBody: boolean;
}

/** Sends the request and prints the response. Resolves with the exit code. With `alone`, the command works without a running server. */
export function askRoute(asked: AskedRoute, given: Given, alone: PrivateUse | undefined): Promise<number> {
  const run = async (control: ControlRequests): Promise<number> => {
    const { path, body } = await requestOf(asked, given);
    if (asked.isList) return listAll(control, path, given);
    if (asked.operation.startsWith("expect")) return showExpected(control, path, body, given);
    return show(await control.request(asked.method, path, body), given);
  };
  return alone === undefined ? withServer(given, run) : withOwnServer(given, run, alone);
}

/** Whether to print text and not JSON: a terminal gets text, a program gets JSON. */
const wantsText = ({ json }: Given): boolean => json !== true && process.stdout.isTTY === true;

/** Prints a response on stdout and its warnings on stderr. Resolves with the exit code. */
export function show({ warnings = [], ...body }: { readonly warnings?: readonly string[] }, given: Given = {}): number {
  for (const warning of warnings) note(`plaza: ${warning}`);
  if (wantsText(given)) for (const line of linesOf(body)) say(printable(line));
  else say(JSON.stringify(body, undefined, 2));
  return 0;
}

interface Request {
  readonly path: string;
  readonly body: Given | undefined;
}

async function requestOf({ path: template, args, options, sends, isPaged, hasBody }: AskedRoute, given: Given): Promise<Request> {
  const inPath: Record<string, unknown> = { world_name: given.world_name, ...sends };
  const query = new URLSearchParams();
  const body = Object.fromEntries(Object.entries(sends).filter(([name]) => !template.includes(`{${name}}`)));
  for (const one of [...args, ...options]) {
    const value = given[one.flag.replaceAll("-", "_")];
    if (value === undefined) continue;
    if (one.place === "path") inPath[one.name] = value;
    else if (one.place === "query") query.set(one.name, String(value));
    else Object.assign(body, await sentValues(one, value));
  }
  if (isPaged) query.set("limit", String(ROWS_OF_A_PAGE));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(inPath[name])));
  return { path: query.size === 0 ? path : `${path}?${query}`, body: hasBody ? body : undefined };
}

/** The largest number of entries that the command requests in one page of a list. */
const ROWS_OF_A_PAGE = 1_000;

async function sentValues({ name, shape, flag }: Parameter, value: unknown): Promise<Record<string, unknown>> {
  if (shape === "pairs") return Object.fromEntries((value as string[]).map(pairOf));
  if (shape === "file") return entryIn(String(value));
  return { [name]: typeof value === "string" ? sentValue(shape, `--${flag}`, value) : value };
}

/** Converts a parameter to the value to send. Text that is not a number is sent unchanged, because the API's error then names the parameter. */
function sentValue(shape: Shape, named: string, text: string): unknown {
  switch (shape) {
    case "number":
    case "time":
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case "list":
      return text.split(",").filter((one) => one !== "");
    case "json":
      return jsonOf(named, text);
    default:
      return text;
  }
}

function jsonOf(named: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigProblem(named, `${text} is not JSON`);
  }
}

/**
 * Reads `KEY=VALUE`. A value that is not JSON is sent as text; an id is also sent as text, because a JavaScript number would
 * lose the last digits of the id.
 */
function pairOf(pair: string): [name: string, value: unknown] {
  const at = pair.indexOf("=");
  if (at < 1) throw new ConfigProblem("--set", `${pair} is not KEY=VALUE`);
  const text = pair.slice(at + 1);
  return [pair.slice(0, at), /^[[{"]|^(true|false|null)$|^-?\d{1,15}(\.\d+)?$/.test(text) ? jsonOf("--set", text) : text];
}

async function entryIn(file: string): Promise<Record<string, unknown>> {
  const { readYaml } = await import("#graph/worlds/file/yaml");
  const entry = await readYaml(await readTextFile("--file", file)).catch((error: Error) => {
    throw new ConfigProblem("--file", error.message);
  });
  if (typeof entry !== "object" || entry === null || Array.isArray(entry))
    throw new ConfigProblem("--file", "must contain one entry, a map of keys and values");
  return entry as Record<string, unknown>;
}

/** Prints one line for each entry of a list: a terminal gets the values, a program gets JSON. */
export async function listAll(control: Pick<ControlRequests, "request">, path: string, given: Given = {}): Promise<number> {
  for await (const entry of entriesOf(control, path)) say(wantsText(given) ? printable(linesOf(entry).join("  ")) : JSON.stringify(entry));
  return 0;
}

/** Prints the result of an expectation. If the expectation was not met, the command also prints the log entry that is nearest to it. */
async function showExpected(control: ControlRequests, path: string, body: Given | undefined, given: Given): Promise<number> {
  const { problem, ...seen } = await expectSeen(control, path, body);
  if (problem !== undefined) note(`plaza: ${problem}`);
  show(seen as Parameters<typeof show>[0], given);
  return problem === undefined ? 0 : FAILED;
}
