/** One step of a case: the form in a case file, and the form that the runner uses. README.md explains all keys. */
import type { Expectation } from "./checks/expectations.ts";
import type { RequestStep } from "./http/requests.ts";

type Raw = Record<string, unknown>;

interface StepEnd {
  readonly expect?: Expectation;
  /** The variables to set. Each variable gets the value of a JSON path, `header:name`, `status`, `items` or `text`. */
  readonly save?: Readonly<Record<string, string>>;
  readonly response_as?: string;
  readonly isExpecting: boolean;
}

export interface ExchangeStep extends StepEnd, RequestStep {
  readonly kind: "request";
  readonly repeat?: number | string;
  readonly follow?: "next" | "previous" | "after" | "before";
  readonly take?: string;
  /**
   * Whether the step only prepares the case by the control API. If the server refuses the request of a step that only prepares the case, the report
   * says that the control API refused it.
   */
  readonly isControl: boolean;
  /** The variable in which `mint` saves the value and the id of the new token. */
  readonly minted_as?: string;
}

export interface ReceiveStep extends StepEnd {
  readonly kind: "receive";
  readonly path: string;
  readonly count: number | string;
  readonly within_ms: number;
}

interface SetStep extends StepEnd {
  readonly kind: "set";
  readonly variables: Readonly<Record<string, unknown>>;
}

interface WaitStep extends StepEnd {
  readonly kind: "wait";
  readonly wait_ms: number;
}

export type Step = ExchangeStep | ReceiveStep | SetStep | WaitStep;

const VERBS = ["get", "post", "delete", "put", "patch", "head", "options"] as const;
const REQUEST_KEYS = ["on", "query", "token", "headers", "json", "form", "multipart", "body", "body_hex"];
const END_KEYS = ["expect", "save", "response_as"];
const CONTROL_VERBS = ["mint", "revoke", "create_node", "patch_node", "delete_node", "clock"] as const;
const EXPECT_KEYS = ["status", "headers", "json", "keys", "text", "flat_error", "wrapped_error", "any_error", "same_response_as", "items", "pages"];

function refuseUnknown(raw: Raw, known: readonly string[], where: string): void {
  for (const key of Object.keys(raw)) if (!known.includes(key)) throw new Error(`${where}: unknown key ${key} (known: ${known.join(", ")})`);
}

export function parseStep(raw: Raw, defaults: Raw, where: string): Step {
  const expect = raw.expect as Expectation | undefined;
  if (expect !== undefined) {
    const plain = Object.fromEntries(Object.entries(expect).filter(([key]) => !key.startsWith("{{")));
    refuseUnknown(plain, EXPECT_KEYS, where);
    if (Object.keys(expect).length === 0) throw new Error(`${where}: expect is empty`);
  }
  const end: StepEnd = {
    ...(expect === undefined ? {} : { expect }),
    ...(raw.save === undefined ? {} : { save: raw.save as Record<string, string> }),
    ...(raw.response_as === undefined ? {} : { response_as: String(raw.response_as) }),
    isExpecting: expect !== undefined,
  };
  if (raw.set !== undefined) {
    refuseUnknown(raw, ["set"], where);
    return { kind: "set", variables: raw.set as Raw, ...end };
  }
  if (raw.wait_ms !== undefined) {
    refuseUnknown(raw, ["wait_ms"], where);
    return { kind: "wait", wait_ms: Number(raw.wait_ms), ...end };
  }
  if (raw.receive !== undefined) {
    refuseUnknown(raw, ["receive", "count", "within_ms", ...END_KEYS], where);
    // The default time limit for a webhook is 5 s. The first attempt of a delivery takes less time, because the server makes it at once (D-62).
    const receive = { path: String(raw.receive), count: (raw.count ?? 1) as number | string, within_ms: Number(raw.within_ms ?? 5000) };
    return { kind: "receive", ...receive, ...end, isExpecting: true };
  }
  return controlStep(raw, end, where) ?? exchangeStep(raw, defaults, end, where);
}

function exchangeStep(raw: Raw, defaults: Raw, end: StepEnd, where: string): ExchangeStep {
  const verb = VERBS.find((name) => raw[name] !== undefined);
  refuseUnknown(raw, [verb ?? "send", ...REQUEST_KEYS, ...END_KEYS, "repeat", "follow", "take"], where);
  // `send` is split into method and target only after its variables are filled in, because a variable may contain the method and the target.
  const [method, target] = verb === undefined ? [String(raw.send ?? ""), ""] : [verb.toUpperCase(), String(raw[verb])];
  if (method === "") throw new Error(`${where}: neither a request, a control step, receive, set nor use`);
  const request = Object.fromEntries(
    REQUEST_KEYS.filter((key) => raw[key] !== undefined || defaults[key] !== undefined).map((key) => [key, raw[key] ?? defaults[key]]),
  );
  const isAdministrative = raw.on === "control" || raw.on === "world";
  if (isAdministrative) delete request.token;
  return {
    kind: "request",
    ...(request as Partial<RequestStep>),
    method,
    target,
    ...(raw.repeat === undefined ? {} : { repeat: raw.repeat as number | string }),
    ...(raw.follow === undefined ? {} : { follow: raw.follow as "next" }),
    ...(raw.take === undefined ? {} : { take: String(raw.take) }),
    isControl: isAdministrative && end.expect === undefined,
    ...end,
  };
}

/** Reads the short forms for requests of the control API (docs/operating/control-api.md). */
function controlStep(raw: Raw, end: StepEnd, where: string): ExchangeStep | undefined {
  const verb = CONTROL_VERBS.find((name) => raw[name] !== undefined);
  if (verb === undefined) return undefined;
  refuseUnknown(raw, [verb, ...END_KEYS, ...(verb === "mint" ? ["as"] : [])], where);
  const exchange = (method: string, target: string, json?: unknown): ExchangeStep => ({
    kind: "request",
    method,
    target,
    on: "world",
    ...(json === undefined ? {} : { json }),
    isControl: true,
    ...end,
  });
  const argument = raw[verb];
  const [key = "", content] = typeof argument === "object" && argument !== null ? (Object.entries(argument)[0] ?? []) : [];
  switch (verb) {
    case "mint":
      return { ...exchange("POST", "/tokens", argument), minted_as: String(raw.as ?? "token") };
    case "revoke":
      return exchange("DELETE", `/tokens/${argument}`);
    case "create_node":
      return exchange("POST", `/nodes/${key}`, content);
    case "patch_node":
      return exchange("PATCH", `/nodes/${key}`, content);
    case "delete_node":
      return exchange("DELETE", `/nodes/${argument}`);
    case "clock":
      return key === "advance" ? exchange("POST", "/clock/advance", { seconds: content }) : exchange("PUT", "/clock", argument);
  }
}
