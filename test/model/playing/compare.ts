/** Compares a response of the server to the model's response. */

import type { Failure } from "../reference/errors.ts";
import { Hole, isFailure, type Reply } from "../reference/replies.ts";
import type { Replied } from "../reference/reply.ts";
import type { Profile } from "../reference/world.ts";
import type { Received } from "./send.ts";

type Difference = string | undefined;

const show = (value: unknown): string => {
  const text = JSON.stringify(value, (_, inner: unknown) => (inner instanceof Hole ? `<${inner.description}>` : inner)) ?? "nothing";
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

export function differenceOf(expected: unknown, actual: unknown, path = ""): Difference {
  if (expected instanceof Hole) {
    const problem = expected.accept(actual);
    return problem === undefined ? undefined : `${path}: ${problem}`;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return `${path}: ${show(actual)} is no list`;
    if (expected.length !== actual.length) return `${path}: ${actual.length} items, not ${expected.length}: ${show(actual)} for ${show(expected)}`;
    return firstOf(expected.map((item, index) => () => differenceOf(item, actual[index], `${path}[${index}]`)));
  }
  if (!isObject(expected)) return Object.is(expected, actual) ? undefined : `${path}: ${show(actual)} for ${show(expected)}`;
  if (!isObject(actual)) return `${path}: ${show(actual)} for ${show(expected)}`;
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return firstOf(
    [...names].map((name) => () => {
      if (!Object.hasOwn(actual, name)) return expected[name] === undefined ? undefined : `${path}.${name} is missing`;
      if (expected[name] === undefined) return `${path}.${name} is there: ${show(actual[name])}`;
      return differenceOf(expected[name], actual[name], `${path}.${name}`);
    }),
  );
}

function firstOf(checks: readonly (() => Difference)[]): Difference {
  for (const check of checks) {
    const difference = check();
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** D-20: the error in a response body: in the flat form, in the wrapped form, or, in the response profile `clients`, in both. */
function errorOf({ form }: Failure, profile: Profile, body: unknown): unknown {
  if (!isObject(body)) return undefined;
  if (form === "wrapped") return Object.keys(body).length === 1 ? body.error : undefined;
  if (profile === "strict") return body;
  const { error, ...flat } = body;
  return Object.keys(body)[0] === "error" && differenceOf(error, flat) === undefined ? error : undefined;
}

function differenceOfFailure(expected: Failure, profile: Profile, { status, body, headers }: Received): Difference {
  const error = errorOf(expected, profile, body);
  if (status !== expected.status || !isObject(error)) return `status ${status} ${show(body)} for ${expected.form} ${expected.error}`;
  const { message, pftrace_id, error_data, error_user_title: _, error_user_msg: __, ...fields } = error;
  if (typeof message !== "string" || message === "") return "the error has no message";
  if (typeof pftrace_id !== "string" || pftrace_id !== headers["x-pf-trace-id"]) return "the error has another trace id than the header";
  const difference = differenceOf(expected.fields, fields, `error ${expected.error}`);
  if (difference !== undefined) return difference;
  const data = isObject(error_data) ? error_data : {};
  return firstOf(
    Object.entries(expected.data).map(
      ([name, value]) =>
        () =>
          differenceOf(value, data[name], `error_data.${name}`),
    ),
  );
}

/**
 * D-83: the versions that a response may name if no version serves the request. Another request may delete a node after the version of this request
 * was chosen.
 */
function versionsOf(reply: Reply, { version, unserved }: Omit<Replied, "replies">): readonly string[] | undefined {
  if (version === undefined) return undefined;
  if (unserved === undefined || !isFailure(reply)) return [version];
  if (["unknownPath", "versionDeprecated"].includes(reply.error)) return [unserved];
  return ["unsupportedRequest", "unknownObject404"].includes(reply.error) ? [unserved, version] : [version];
}

const WARNING = "x-ad-api-version-warning";
const USAGE = /^\{"call_count":\d+,"total_cputime":0,"total_time":0\}$/;

function differenceOfHeaders({ status, headers }: Received, versions: readonly string[] | undefined): Difference {
  if (headers["content-type"]?.toLowerCase() !== "application/json; charset=utf-8") return `content-type is ${headers["content-type"]}`;
  if (!headers["x-pf-trace-id"]) return "there is no trace id";
  if (!USAGE.test(headers["x-app-usage"] ?? "")) return `x-app-usage is ${headers["x-app-usage"]}`;
  if (!headers["x-business-use-case-usage"]?.startsWith("{")) return "there is no x-business-use-case-usage";
  if (status === 401 && headers["www-authenticate"] === undefined) return "a 401 has no WWW-Authenticate";
  const version = headers["pf-api-version"] ?? "missing";
  return versions?.includes(version) === false ? `pf-api-version is ${version}, not ${versions.join(" or ")}` : undefined;
}

export interface Compared {
  readonly difference: Difference;
  /** The expected response that equals the server's response; undefined if none does. */
  readonly reply: Reply | undefined;
}

/** Compares a response without a body. */
export function compareStatus({ replies }: Pick<Replied, "replies">, { status }: Received): Compared {
  const reply = replies.find((one) => one.status === status);
  return { reply, difference: reply === undefined ? `status ${status} for ${replies.map((one) => one.status).join(" or ")}` : undefined };
}

/** Compares a response. `hasHeaders` is false for the requests of a batch that asks for no headers. */
export function compare({ replies, ...replied }: Replied, profile: Profile, received: Received, hasHeaders = true): Compared {
  const differences: string[] = [];
  for (const reply of replies) {
    const difference = isFailure(reply)
      ? differenceOfFailure(reply, profile, received)
      : reply.status === received.status
        ? differenceOf(reply.body, received.body, "body")
        : `status ${received.status} ${show(received.body)} for ${reply.status} ${show(reply.body)}`;
    if (difference === undefined) {
      if (!hasHeaders) return { reply, difference };
      const own = isFailure(reply) ? undefined : differenceOf(reply.headers?.[WARNING], received.headers[WARNING], WARNING);
      return { reply, difference: own ?? differenceOfHeaders(received, versionsOf(reply, replied)) };
    }
    differences.push(difference);
  }
  return { reply: undefined, difference: differences.join("\n  or ") };
}
