/** A line of the log for each request of the graph: cheap, because it is made for every request. */
import type { RequestEntry } from "#graph/worlds/request-log";
import { redact } from "#kernel/redaction/redaction";
import type { Log } from "./log.ts";

/** What a line quotes of a request has a limit. */
const CHARACTERS_MAX = 300;

const excerpt = (text: string): string => (text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text);

/** The query is left out, because it may hold tokens. The path is the only field that may need escapes. */
export const requestLines =
  (log: Log) =>
  (entry: RequestEntry): void => {
    const { method, path, status, duration_ms, operation, app, trace_id } = entry;
    const shownPath = JSON.stringify(excerpt(redact(path)));
    const ms = Math.round(duration_ms * 100) / 100;
    const ofApp = app === undefined ? "" : `,"app":"${app}"`;
    const reason = status >= 400 ? reasonOf(entry.response_body) : "";
    log.line(
      `"method":"${method}","path":${shownPath},"status":${status},"ms":${ms},"operation":"${operation}"${ofApp},"trace_id":"${trace_id}"${reason}`,
      "request",
    );
  };

/** Why it was refused, from either form of errors, as further fields. */
function reasonOf(body: string): string {
  try {
    const found = JSON.parse(body) as { error?: unknown };
    const { code, message } = (typeof found.error === "object" && found.error !== null ? found.error : found) as {
      code?: unknown;
      message?: unknown;
    };
    return `,${JSON.stringify({ code, reason: excerpt(redact(String(message))) }).slice(1, -1)}`;
  } catch {
    return "";
  }
}
