/** `plaza login`: logs in to an app as a person of a sandbox, and prints the token (D-388). */
import { idsNamed } from "#control/client/graph-call";
import { type ControlRequests, WrongParameter } from "#control/client/requests";
import { type Given, withServer } from "../control-client.ts";
import { note, printable, say } from "../terminal/output.ts";

export function login(given: Given): Promise<number> {
  return withServer(given, async (control) => {
    const as = String(given.as);
    const users = await idsNamed(control, as, ["users"]);
    const accounts = await idsNamed(control, as, ["social_accounts"]);
    const person = onlyOne("as", as, [...users, ...accounts]);
    const body = {
      app: given.app === undefined ? await onlyApp(control) : onlyOne("app", String(given.app), await idsNamed(control, String(given.app), ["apps"])),
      ...(users.includes(person) ? { user: person } : { social_account: person }),
      ...(given.scope === undefined ? {} : { scopes: scopesIn(String(given.scope)) }),
    };
    const answer = await control.request("POST", "in-app/login", body);
    for (const warning of answer.warnings ?? []) note(printable(`plaza: ${warning}`));
    say(given.json === true ? JSON.stringify(answer) : printable(answer.access_token));
    return 0;
  });
}

const scopesIn = (text: string): string[] => text.split(/[\s,]+/).filter((scope) => scope !== "");

function onlyOne(option: "as" | "app", text: string, ids: readonly string[]): string {
  const [id, ...others] = ids;
  const kind = option === "app" ? "app" : "person or social account";
  if (id === undefined) throw new WrongParameter(option, `no ${kind} is called ${text}; plaza node list shows names and ids`);
  if (others.length > 0) throw new WrongParameter(option, `${ids.length} nodes are called ${text}: ${ids.join(", ")}; give the id of one of them`);
  return id;
}

async function onlyApp(control: ControlRequests): Promise<string> {
  const { data } = await control.request("GET", "nodes/apps?limit=10");
  const apps = data as readonly { readonly id: string; readonly name: string }[];
  const [app, ...others] = apps;
  if (app === undefined) throw new WrongParameter("app", "the world has no app; plaza token create-app creates one");
  if (others.length > 0)
    throw new WrongParameter(
      "app",
      `is required, because the world has several apps, such as ${apps.map(({ id, name }) => `${id} (${name})`).join(", ")}`,
    );
  return app.id;
}
