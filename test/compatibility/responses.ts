/** A recorded request, and the properties of its response that must stay the same. */
import type { Ready } from "../cli/plaza-process.ts";

export interface RecordedRequest {
  /** The key in the server's ready line under which the address for the request is printed. */
  readonly on: "base_url" | "app_base_url" | "microblog_base_url" | "ads_base_url" | "social_login_host" | "control_url";
  /** The path of the request, relative to the address from the ready line, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Recorded {
  readonly request: RecordedRequest;
  readonly status: number;
  /** The body of the response as JSON. A body of JSON lines becomes a list. */
  readonly body: unknown;
}

/** Keys of errors that are left out: they differ in each response, or their wording may improve. */
const ERROR_TEXTS = new Set(["pftrace_id", "message", "error_user_title", "error_user_msg"]);

export async function ask(ready: Ready, request: RecordedRequest): Promise<Recorded> {
  const headers = request.on === "control_url" ? { ...request.headers, authorization: `Bearer ${ready.control_key}` } : { ...request.headers };
  const response = await fetch(`${ready[request.on]}${request.path}`, { headers });
  const text = withoutPorts(await response.text(), ready);
  const isLines = response.headers.get("content-type")?.includes("ndjson") === true;
  const body: unknown = isLines ? text.trimEnd().split("\n").map(parsed) : parsed(text);
  return { request, status: response.status, body: response.status < 400 ? body : withoutTexts(body) };
}

/** Replaces addresses in links, because the addresses contain the port of this start. */
function withoutPorts(text: string, { base_url, control_url }: Ready): string {
  return text.replaceAll(new URL(base_url).origin, "{graph}").replaceAll(new URL(control_url).origin, "{control}");
}

const parsed = (text: string): unknown => JSON.parse(text);

function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !ERROR_TEXTS.has(key))
      .map(([key, inner]) => [key, withoutTexts(inner)]),
  );
}

/** The text of a fixture: a line for each response, so that a person can read the difference of two fixtures. */
export const toLines = (recorded: readonly Recorded[]): string => recorded.map((one) => `${JSON.stringify(one)}\n`).join("");

export const fromLines = (text: string): Recorded[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Recorded);
