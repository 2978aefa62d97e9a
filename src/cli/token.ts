/** `plaza token …`, and `plaza key …`: tokens of the graph; keys of the control API, and the key that seals stored secrets. */
import { type Control, type Given, listAll, post, show, withControl } from "./control-or-data.ts";

export const runTokenCommand = (command: string, given: Given): Promise<number> =>
  withControl(given, (control) => runToken(control, command, given, `/v1/worlds/${encodeURIComponent(String(given.world_name))}`), {
    // The first app may be made before the first start.
    makesData: command === "create-app",
  });

async function runToken(control: Control, command: string, given: Given, world: string): Promise<number> {
  switch (command) {
    case "mint":
      return show(await post(control, `${world}/tokens`, tokenOf(given)));
    case "create-app":
      return show(await post(control, `${world}/nodes/apps`, given.id === undefined ? { name: given.name } : { id: given.id, name: given.name }));
    case "revoke":
      return show(await control.request(`${world}/tokens/${encodeURIComponent(String(given.id))}`, { method: "DELETE" }));
    case "list":
      return listAll(control, `${world}/tokens?limit=1000`);
    default:
      throw new Error(`there is no command token ${command}`);
  }
}

function tokenOf(given: Given): Record<string, unknown> {
  const { type, app, user, page, social_account, microblog_user, scopes, expires_at } = given;
  const seconds = typeof expires_at === "string" && /^\d+$/.test(expires_at) ? Number(expires_at) : expires_at;
  const listed = typeof scopes === "string" ? scopes.split(",").filter((scope) => scope !== "") : undefined;
  const entry = { type, app, user, page, social_account, microblog_user, scopes: listed, expires_at: seconds };
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

export const runKeyCommand = (command: string, given: Given): Promise<number> =>
  withControl(given, (control) => runKey(control, command, given), { isKeyReplaced: command === "rotate", makesData: command === "rotate" });

const KEYS = "/v1/control-keys";
const SEALING_KEY = "/v1/sealing-key";

async function runKey(control: Control, command: string, given: Given): Promise<number> {
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
