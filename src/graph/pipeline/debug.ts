/** D-34: what `debug=all` tells beside the response: what was ignored, and which version served. */
import { invalidParameter } from "#kernel/errors";
import { formatVersion, type Version } from "#kernel/versions";
import type { ReadRequest } from "../contract/operation.ts";
import type { Endpoint } from "../contract/registry.ts";

interface DebugMessage {
  readonly type: "info" | "warning";
  readonly message: string;
}

const levels: Readonly<Record<string, readonly DebugMessage["type"][]>> = {
  all: ["info", "warning"],
  info: ["info", "warning"],
  warning: ["warning"],
};

/** What every request may carry beside its own parameters. */
const COMMON = new Set([
  "access_token",
  "oauth_token",
  "appsecret_proof",
  "fields",
  "limit",
  "before",
  "after",
  "method",
  "metadata",
  "debug",
  "migrations_override",
  "ids",
]);

export function withDebug(
  response: unknown,
  endpoint: Endpoint,
  { graphRequest, version }: ReadRequest,
  asked: Version | undefined,
  headers: Readonly<Record<string, string>>,
): unknown {
  const level = graphRequest.query.debug ?? graphRequest.body.debug;
  if (level === undefined) return response;
  const shown = typeof level === "string" && Object.hasOwn(levels, level) ? levels[level] : undefined;
  if (shown === undefined) throw invalidParameter("debug", "must be one of all, info, warning");
  const messages: DebugMessage[] = [];
  const ignored = Object.keys({ ...graphRequest.query, ...graphRequest.body }).filter(
    (name) => !COMMON.has(name) && !endpoint.paramNames.includes(name),
  );
  for (const name of ignored) messages.push({ type: "warning", message: `The parameter ${name} is not known here and was ignored.` });
  if (asked === undefined) messages.push({ type: "info", message: `The request named no version; ${formatVersion(version)} served it.` });
  const upgrade = headers["x-ad-api-version-warning"];
  if (upgrade !== undefined) messages.push({ type: "warning", message: upgrade });
  return { ...(response as object), __debug__: { messages: messages.filter(({ type }) => shown.includes(type)) } };
}
