/** Describes a running server. */
import type { Alert } from "#control-contract/alert";
import { timeText } from "#kernel/clock";
import type { ControlRequests } from "./requests.ts";
import { type UnservedList, unservedText } from "./unserved.ts";

export interface ServerStatus {
  readonly version: string;
  readonly pid: number;
  readonly started_at: number;
  readonly base_url: string;
  readonly control_url: string;
  readonly data: string;
  readonly sandbox: boolean;
  readonly processes: number;
  /** Whether the database responds. */
  readonly ready: boolean;
  readonly worlds: readonly { readonly name: string; readonly profile: string; readonly empty: boolean }[];
  /** The callbacks that do not work. */
  readonly callbacks: readonly { readonly url: string; readonly status: string }[];
  /** The alerts of the world, including the alerts about callbacks. */
  readonly alerts: readonly Alert[];
  /** The edges, fields and versions that programs requested and that Plaza does not have. */
  readonly unserved: UnservedList["data"];
}

/** The greatest number of lines about requested names that Plaza does not have. */
const UNSERVED_MAX = 10;
/** The greatest number of callbacks that are listed, because a person does not read more. */
const CALLBACKS_MAX = 1_000;

export async function statusOf(control: ControlRequests): Promise<ServerStatus> {
  const server = await control.request("GET", "/v1/server");
  const ready = (await control.send("/readyz")).ok;
  // If the database does not respond, the server cannot serve the requests that follow here.
  const worlds = ready ? (await control.request("GET", "/v1/worlds")).data : [];
  const callbacks = ready ? ((await control.request("GET", `callbacks?limit=${CALLBACKS_MAX}`)).data as ServerStatus["callbacks"]) : [];
  const broken = callbacks.filter(({ status: health }) => health !== "working").map(({ url, status: health }) => ({ url, status: health }));
  const alerts = (await control.request("GET", "alerts")).data;
  const unserved = ((await control.request("GET", "unserved")) as UnservedList).data;
  return { ...server, control_url: `${control.url}/v1`, ready, worlds, callbacks: broken, alerts, unserved };
}

/** Describes the status, with a line for each fact. */
export function statusLines({
  version,
  pid,
  started_at,
  base_url,
  control_url,
  data,
  sandbox,
  processes,
  ready,
  worlds,
  callbacks,
  alerts,
  unserved,
}: ServerStatus): string[] {
  const many = processes === 1 ? "" : `, ${processes} processes`;
  return [
    `Plaza ${version} ${ready ? "runs" : "runs, but it cannot use its database"}`,
    `  process      ${pid}, since ${timeText(started_at)}${many}`,
    `  graph        ${base_url}`,
    `  control API  ${control_url}`,
    `  data         ${data}${sandbox ? ", a sandbox" : ""}`,
    ...worlds.map(({ name, profile, empty }) => `  world        ${name}: ${profile}${empty ? ", empty" : ""}`),
    ...callbacks.map(({ url, status: health }) => `  callback     ${url}: ${health}`),
    ...alerts.filter(({ kind }) => !kind.startsWith("callback_")).map(({ level, text }) => `  ${level.padEnd(12)} ${text}`),
    ...unserved.slice(0, UNSERVED_MAX).map((one) => `  not served   ${unservedText(one)} (trace ${one.trace_id})`),
    ...(unserved.length > UNSERVED_MAX ? [`  not served   and ${unserved.length - UNSERVED_MAX} more: plaza status --json lists all`] : []),
  ];
}
