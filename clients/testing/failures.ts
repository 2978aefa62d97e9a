/** Errors of the control API, with messages for the reader of a failed test. */
import type { Operations } from "./control-api.ts";

/**
 * The control API refused a request. The error's message gives the reason of the control API, and names the wrong parameter.
 */
export class ControlRefusal extends Error {
  override readonly name = "ControlRefusal";

  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly parameter: string | undefined,
  ) {
    super(message);
  }
}

export type SeenRequest = Operations["expectRequests"]["response"]["data"][number];
export type SeenWebhook = Operations["expectWebhooks"]["response"]["data"][number];
export type SeenAppEvent = Operations["expectAppEvents"]["response"]["data"][number];

export interface Difference {
  /** The path in the entry at which the expected and the actual value differ, e.g. `status` or `request_body.users[0]`. */
  readonly at: string;
  readonly expected: unknown;
  /** The actual value; absent if the entry has no value at this path. */
  readonly actual?: unknown;
}

export interface NearMiss {
  readonly request?: SeenRequest;
  readonly webhook?: SeenWebhook;
  readonly event?: SeenAppEvent;
  readonly differences: readonly Difference[];
}

export interface UnmetResponse {
  readonly error: { readonly code: string; readonly message: string; readonly parameter?: string };
  /** The number of entries that matched the expectation. */
  readonly count: number;
  /** The entries that the server saw, the newest first. */
  readonly data: readonly (SeenRequest | SeenWebhook | SeenAppEvent)[];
  readonly nearest?: NearMiss;
}

/**
 * An expectation was not met. The message shows the entry that is nearest to the expectation with its differences, and the
 * other entries that the server saw.
 */
export class UnmetExpectation extends Error {
  override readonly name = "UnmetExpectation";
  readonly seen: UnmetResponse["data"];
  readonly nearest: NearMiss | undefined;

  constructor(response: UnmetResponse) {
    super(reportOf(response));
    this.seen = response.data;
    this.nearest = response.nearest;
  }
}

/** The greatest number of entries in the message of a failed expectation, because more entries would not fit on a screen. */
const SEEN_MAX = 10;
const VALUE_CHARACTERS_MAX = 500;

function reportOf({ error, data, nearest }: UnmetResponse): string {
  const lines = [error.message.replace(/; the nearest differs in [\s\S]*$/, "")];
  if (nearest !== undefined) {
    const missed = nearest.request ?? nearest.webhook ?? nearest.event;
    lines.push("", `nearest: ${missed === undefined ? "" : lineOf(missed)}`);
    for (const { at, expected, actual } of nearest.differences)
      lines.push(`  ${at}`, `    expected  ${valueText(expected)}`, `    actual    ${valueText(actual)}`);
  }
  lines.push("", data.length === 0 ? "the server saw no request, webhook or event of this kind" : "the server saw, newest first:");
  for (const seen of data.slice(0, SEEN_MAX)) lines.push(`  ${lineOf(seen)}`);
  if (data.length > SEEN_MAX) lines.push(`  and ${data.length - SEEN_MAX} more`);
  return lines.join("\n");
}

function lineOf(seen: SeenRequest | SeenWebhook | SeenAppEvent): string {
  if ("verdict" in seen) return `${seen.event_name ?? seen.event}: ${seen.verdict}${seen.reason === undefined ? "" : ` (${seen.reason})`}`;
  if ("operation" in seen) return `${seen.operation}: ${seen.method} ${seen.path} → ${seen.status}`;
  const { object, field, entity, app, status, reason, attempts } = seen;
  const last = attempts.at(-1);
  const because = [reason, last?.error ?? (last?.status === undefined ? undefined : `the receiver returned ${last.status}`)].filter(Boolean);
  return `${field} of ${object} ${entity} to app ${app}: ${status}${because.length === 0 ? "" : ` (${because.join(", ")})`}`;
}

function valueText(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
}

/**
 * Throws the error with the stack of `asked`, which was created in the test's call, so that the test runner shows the line
 * of the test.
 */
export function failAt(error: unknown, asked: Error): never {
  if (error instanceof Error) error.stack = `${error.name}: ${error.message}\n${framesOf(asked)}`;
  throw error;
}

/** The lines of a stack after the name and the message of the error. */
const framesOf = ({ stack = "" }: Error): string => {
  const lines = stack.split("\n");
  return lines.slice(lines.findIndex((line) => /^\s+at /.test(line))).join("\n");
};
