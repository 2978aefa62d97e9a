/** A recorded request, and what of its response has to stay the same. */
import type { Ready } from "../cli/plaza-process.ts";

export interface RecordedRequest {
  /** The key of the ready line that holds the address. */
  readonly on: "base_url" | "app_base_url" | "microblog_base_url" | "ads_base_url" | "social_login_host" | "control_url";
  /** With its query, behind that address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Recorded {
  readonly request: RecordedRequest;
  readonly status: number;
  /** Of JSON lines, the list of them. */
  readonly body: unknown;
}

/** Other in each response, or said in words that may be said better. */
const ERROR_TEXTS = new Set(["pftrace_id", "message", "error_user_title", "error_user_msg"]);

export async function ask(ready: Ready, request: RecordedRequest): Promise<Recorded> {
  const headers = request.on === "control_url" ? { ...request.headers, authorization: `Bearer ${ready.control_key}` } : { ...request.headers };
  const response = await fetch(`${ready[request.on]}${request.path}`, { headers });
  const text = withoutPorts(await response.text(), ready);
  const isLines = response.headers.get("content-type")?.includes("ndjson") === true;
  const body: unknown = isLines ? text.trimEnd().split("\n").map(parsed) : parsed(text);
  return { request, status: response.status, body: response.status < 400 ? body : withoutTexts(body) };
}

/** Links hold the port that this start was given. */
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

/** A line each, so that a difference of two fixtures can be read. */
export const toLines = (recorded: readonly Recorded[]): string => recorded.map((one) => `${JSON.stringify(one)}\n`).join("");

export const fromLines = (text: string): Recorded[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Recorded);
