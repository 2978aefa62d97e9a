/** `plaza call`: sends a request to the graph with the token of a person or app of the world, and says why it was refused if it was. */
import { ConfigProblem } from "#config/config";
import { explainedRefusal } from "#control/client/explained";
import { graphRequestOf, withoutDebug } from "#control/client/graph-call";
import { type Given, withServer } from "../control-client.ts";
import { directTo } from "../proxies.ts";
import { FAILED, note, printable, readTextFile, say } from "../terminal/output.ts";

export function call(method: string, path: string, given: Given): Promise<number> {
  return withServer(given, async (control) => {
    const fields = ((given.field ?? []) as readonly string[]).map(pairOf);
    const body = given.body === undefined ? undefined : await bodyOf(String(given.body));
    const as = given.as === undefined ? undefined : String(given.as);
    const { url, init } = await graphRequestOf(control, { method: method.toUpperCase(), path, as, fields, body });
    const response = await fetch(url, { ...init, ...directTo(url) });
    const text = await response.text();
    if (given.include === true) {
      say(`${response.status}`);
      for (const [name, value] of response.headers) say(printable(`${name}: ${value}`));
    }
    const shown = withoutDebug(text);
    say(shown === undefined ? printable(text) : JSON.stringify(shown, undefined, 2));
    if (response.ok) return 0;
    for (const line of await explainedRefusal(control, text)) note(printable(line));
    return FAILED;
  });
}

function pairOf(pair: string): [name: string, value: string] {
  const at = pair.indexOf("=");
  if (at < 1) throw new ConfigProblem("--field", `${pair} is not NAME=VALUE`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

async function bodyOf(value: string): Promise<string> {
  const text = value.startsWith("@") ? await readTextFile("--body", value.slice(1)) : value;
  try {
    JSON.parse(text);
  } catch {
    throw new ConfigProblem("--body", "is not JSON; @FILE reads a file, and --field sends a form");
  }
  return text;
}
