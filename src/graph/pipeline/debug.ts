/** D-34: what `debug=all` adds to a response: what was ignored, and which version served. */
import { invalidParameter } from "#kernel/errors";
import { formatVersion } from "#kernel/versions";
import { generalParameters } from "../contract/general-parameters.ts";
import { upgradeWarning } from "../versions/resolve.ts";
import type { Handled } from "./handle.ts";
import type { Incoming, Versioned } from "./stages.ts";

interface DebugMessage {
  readonly type: "info" | "warning";
  readonly message: string;
}

const levels: Readonly<Record<string, readonly DebugMessage["type"][]>> = {
  all: ["info", "warning"],
  info: ["info", "warning"],
  warning: ["warning"],
};

export function withDebug({ request }: Incoming, { endpoint, address, served }: Versioned, handled: Handled, response: unknown): unknown {
  const level = request.query.debug ?? request.body.debug;
  if (level === undefined) return response;
  const shown = typeof level === "string" && Object.hasOwn(levels, level) ? levels[level] : undefined;
  if (shown === undefined) throw invalidParameter("debug", "must be one of all, info, warning");
  const messages: DebugMessage[] = [];
  const ignored = Object.keys({ ...request.query, ...request.body }).filter(
    (name) => !generalParameters.has(name) && !endpoint.paramNames.includes(name),
  );
  for (const name of ignored) messages.push({ type: "warning", message: `The parameter ${name} is not known here and was ignored.` });
  const notes = handled.kind === "write" ? (handled.parsed.served.notes?.(handled.parsed.request) ?? []) : [];
  for (const message of notes) messages.push({ type: "warning", message });
  if (address.version === undefined)
    messages.push({ type: "info", message: `The request named no version; ${formatVersion(served.version)} served it.` });
  if (served.upgradedFrom !== undefined) messages.push({ type: "warning", message: upgradeWarning(served.version, served.upgradedFrom) });
  return { ...(response as object), __debug__: { messages: messages.filter(({ type }) => shown.includes(type)) } };
}
