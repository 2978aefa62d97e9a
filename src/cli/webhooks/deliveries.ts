/** `plaza deliveries …`: lists webhook deliveries and replays them. */
import type { ControlRequests } from "#control/client/requests";
import { type Delivery, lineOf } from "#control/client/triggered";
import { timeText } from "#kernel/clock";
import { type Given, withServer } from "../control-client.ts";
import { fail, note, printable, say, WRONG_USE } from "../terminal/output.ts";

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
    say(
      json === true
        ? JSON.stringify(one)
        : `${timeText(time)} ${object}.${of} of ${entity}${updates > 1 ? ` (${updates})` : ""} ${printable(lineOf(one))}`,
    );
  }
  if (data.length === 0 && json !== true) note("no deliveries");
  return 0;
}

async function resend(control: ControlRequests, { since, callback, json }: Given, ids: readonly string[]): Promise<number> {
  if ((since === undefined) === (ids.length === 0)) return fail("give either ids of deliveries or --since", WRONG_USE);
  if (callback !== undefined && since === undefined) return fail("--callback needs --since", WRONG_USE);
  if (since === undefined) {
    for (const id of ids) {
      await control.request("POST", `deliveries/${encodeURIComponent(id)}/replay`);
      say(json === true ? JSON.stringify({ id }) : `${id} is sent again`);
    }
    return 0;
  }
  const text = String(since);
  const span = { since: /^\d+$/.test(text) ? Number(text) : text, ...(callback === undefined ? {} : { callback }) };
  const { replayed } = (await control.request("POST", "deliveries/replay", span)) as { replayed: number };
  say(json === true ? JSON.stringify({ replayed }) : `${replayed} sent again`);
  return 0;
}
