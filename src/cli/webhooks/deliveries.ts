/** `plaza deliveries …`: lists webhook deliveries and replays them. */
import { type ControlRequests, type Given, withServer } from "../control-client.ts";
import { fail, note, printable, say, timeText, WRONG_USE } from "../terminal/output.ts";

const LIMIT_DEFAULT = "20";

export const listDeliveries = (given: Given): Promise<number> => withServer(given, (control) => list(control, given));

export const showDeliveries = (given: Given, ids: readonly string[]): Promise<number> =>
  withServer(given, async ({ request }) => {
    for (const id of ids) say(JSON.stringify(await request("GET", `deliveries/${encodeURIComponent(id)}`), undefined, 2));
    return 0;
  });

export const resendDeliveries = (given: Given, ids: readonly string[] = []): Promise<number> =>
  withServer(given, (control) => resend(control, given, ids));

async function list(control: ControlRequests, { status, callback, field, limit, json }: Given): Promise<number> {
  const filter = Object.entries({ status, callback, field }).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  const query = new URLSearchParams([...filter, ["limit", String(limit ?? LIMIT_DEFAULT)]]);
  const { data } = (await control.request("GET", `deliveries?${query}`)) as { data: Delivery[] };
  for (const one of data) {
    const { object, field: of, entity, updates, time } = one;
    say(json === true ? JSON.stringify(one) : `${timeText(time)} ${object}.${of} of ${entity}${updates > 1 ? ` (${updates})` : ""} ${lineOf(one)}`);
  }
  if (data.length === 0 && json !== true) note("no deliveries");
  return 0;
}

async function resend(control: ControlRequests, { since, callback }: Given, ids: readonly string[]): Promise<number> {
  if ((since === undefined) === (ids.length === 0)) return fail("name either the ids of deliveries or --since", WRONG_USE);
  if (callback !== undefined && since === undefined) return fail("--callback goes with --since", WRONG_USE);
  if (since === undefined) {
    for (const id of ids) {
      await control.request("POST", `deliveries/${encodeURIComponent(id)}/replay`);
      say(`${id} is sent again`);
    }
    return 0;
  }
  const text = String(since);
  const span = { since: /^\d+$/.test(text) ? Number(text) : text, ...(callback === undefined ? {} : { callback }) };
  const { replayed } = (await control.request("POST", "deliveries/replay", span)) as { replayed: number };
  say(`${replayed} sent again`);
  return 0;
}

/** A delivery with the fields that the commands print. */
export interface Delivery {
  readonly id: string;
  readonly app: string;
  readonly callback?: string;
  readonly object: string;
  readonly field: string;
  readonly entity: string;
  readonly status: string;
  readonly reason?: string;
  readonly updates: number;
  /** The time of the attempt in Unix seconds. */
  readonly time: number;
  readonly attempts: readonly { readonly status?: number; readonly latency_ms?: number; readonly error?: string }[];
}

/** The line of a delivery: `501 app 1001 http://…: delivered 200 in 3 ms`. */
export function lineOf({ id, app, callback, status, reason, attempts }: Delivery): string {
  const last = attempts.at(-1);
  const response = last === undefined ? "" : ` ${last.status ?? last.error}${last.latency_ms === undefined ? "" : ` in ${last.latency_ms} ms`}`;
  return printable(`${id} app ${app} ${callback ?? "(no callback)"}: ${status}${reason === undefined ? "" : ` (${reason})`}${response}`);
}
