/** `plaza token …`. */
import { type Control, type Given, listAll, post, show, withControl } from "./control-or-data.ts";

export const runTokenCommand = (command: string, given: Given): Promise<number> =>
  withControl(given, (control) => run(control, command, given, `/v1/worlds/${encodeURIComponent(String(given.world_name))}`), {
    // The first app may be made before the first start.
    makesData: command === "create-app",
  });

async function run(control: Control, command: string, given: Given, world: string): Promise<number> {
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
