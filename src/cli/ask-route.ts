/** Sends the request of a command of `route-commands.ts`, and prints the response. */
import { type ControlRequests, type Given, type PrivateUse, withOwnServer } from "./control-client.ts";
import { note, say } from "./terminal/output.ts";

export interface RouteCommand extends PrivateUse {
  readonly name: string;
  readonly summary: string;
  /**
   * Method and path. `{name}` is an option or the argument. Options that the path does not name go into the query of a GET, and into the body of other
   * methods.
   */
  readonly asks: string;
  readonly argument?: readonly [name: string, summary: string];
  /** A value of `<N>` or `<TIME>` that is a number is sent as a number, and `<A,B>` as a list. */
  readonly options?: readonly (readonly [flags: string, summary: string, isRequired?: "required"])[];
  /** The name in the body, if it is not the option's. */
  readonly sentAs?: Readonly<Record<string, string>>;
  /** The response is a list, which is printed page by page, an entry per line. */
  readonly isList?: true;
}

export const askRoute = (command: RouteCommand, given: Given): Promise<number> =>
  withOwnServer(
    given,
    async (control) => {
      const { method, path, body } = requestOf(command, given);
      return command.isList === true ? listAll(control, path) : show(await control.request(method, path, body));
    },
    command,
  );

/** Resolves with the exit code. Warnings are written beside the response. */
export function show({ warnings = [], ...body }: { readonly warnings?: readonly string[] }): number {
  for (const warning of warnings) note(`plaza: ${warning}`);
  say(JSON.stringify(body, undefined, 2));
  return 0;
}

interface AskedRoute {
  readonly method: string;
  readonly path: string;
  readonly body: Given | undefined;
}

function requestOf({ asks, argument, options = [], sentAs = {} }: RouteCommand, given: Given): AskedRoute {
  const [method = "", template = ""] = asks.split(" ");
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given[name])));
  const forms = [...options.map(([flags]) => flags), ...(argument === undefined ? [] : [argument[0]])];
  const others = forms.map((form) => [nameOf(form), form] as const).filter(([name]) => !template.includes(`{${name}}`));
  const sent = others.flatMap(([name, form]) => (given[name] === undefined ? [] : [[sentAs[name] ?? name, sentValue(form, given[name])] as const]));
  if (method !== "GET") return { method, path, body: others.length === 0 ? undefined : Object.fromEntries(sent) };
  const query = new URLSearchParams(sent.map(([name, value]) => [name, String(value)] as [string, string]));
  return { method, path: query.size === 0 ? path : `${path}?${query}`, body: undefined };
}

/** `--expires-at <TIME>` → `expires_at`, `<snapshot>` → `snapshot`. */
export const nameOf = (form: string): string =>
  form
    .replace(/^--(\S+).*/, "$1")
    .replace(/[<>]/g, "")
    .replaceAll("-", "_");

/** Text that is not a number is sent unchanged: the error of the API names the parameter. */
function sentValue(form: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/<(N|TIME)>$/.test(form)) return /^\d+$/.test(value) ? Number(value) : value;
  return form.endsWith("<A,B>") ? value.split(",").filter((one) => one !== "") : value;
}

/** Prints one entry of a list per line. */
export async function listAll(control: Pick<ControlRequests, "request">, path: string): Promise<number> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const { data = [], paging } = (await control.request("GET", next)) as { data?: unknown[]; paging?: { next?: string } };
    for (const entry of data) say(JSON.stringify(entry));
    const link: URL | undefined = paging?.next === undefined ? undefined : new URL(paging.next);
    next = link === undefined ? undefined : link.pathname + link.search;
  }
  return 0;
}
