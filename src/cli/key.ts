/** `plaza key …`: the keys of the control API, and the key that seals stored secrets. */
import { type Control, type Given, listAll, post, show, withControl } from "./control-or-data.ts";

export const runKeyCommand = (command: string, given: Given): Promise<number> =>
  withControl(given, (control) => run(control, command, given), { isKeyReplaced: command === "rotate", makesData: command === "rotate" });

const KEYS = "/v1/control-keys";
const SEALING_KEY = "/v1/sealing-key";

async function run(control: Control, command: string, given: Given): Promise<number> {
  switch (command) {
    case "create":
      return show(await post(control, KEYS, without({ access: given.access, name: given.name, expires_at: numberOf(given.expires_at) })));
    case "list":
      return listAll(control, `${KEYS}?limit=1000`);
    case "revoke":
      return show(await control.request(`${KEYS}/${encodeURIComponent(String(given.id))}`, { method: "DELETE" }));
    case "rotate":
      return show(await post(control, `${KEYS}/rotate`, without({ overlap_seconds: numberOf(given.overlap_seconds) })));
    case "sealing":
      return show(await control.request(SEALING_KEY, { method: "GET" }));
    case "rotate-sealing":
      return show(await post(control, `${SEALING_KEY}/rotate`, without({ overlap_seconds: numberOf(given.overlap_seconds) })));
    default:
      throw new Error(`there is no command key ${command}`);
  }
}

/** What is not a number is left to the API, whose error names the parameter. */
const numberOf = (value: unknown): unknown => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value);

const without = (body: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
