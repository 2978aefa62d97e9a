/**
 * Makes the subscriptions that `plaza listen` (`listen.ts`) needs besides the callback: the fields, and the accounts and pages that send these
 * fields. Some webhooks are only sent if the app has a token, but the command creates no tokens.
 */
import { ConfigProblem } from "#config/config";
import { ControlRefusal, type ControlRequests, entriesOf } from "#control/client/requests";
import { eventNames, nodesOf } from "#control/client/triggered";
import { suggestion } from "#kernel/suggestion";
import type { WebhookField, WebhookObject } from "#webhooks/catalogue/field";

export interface AppEntry {
  readonly id: string;
  readonly secret: string;
  readonly callback?: { readonly url: string; readonly verify_token?: string; readonly verified?: boolean };
  readonly subscriptions?: readonly Subscription[];
}

export interface Subscription {
  readonly object: WebhookObject;
  readonly fields: readonly string[];
  /** The callback that gets the webhooks of this object, in place of the app's callback. */
  readonly callback?: AppEntry["callback"];
}

/** The greatest number of accounts that the command subscribes for each object, because a world may have millions of accounts. */
const ACCOUNTS_MAX = 1_000;
/** The number of accounts that one request reads. The number is low, because the entry of a page with all its people may have some 600 kB. */
const ACCOUNTS_PAGE = 50;

export type Fields = Readonly<Partial<Record<WebhookObject, readonly string[]>>>;

/**
 * Reads the option `--events` into fields by object. The value `messages` means this webhook field of each object that has such a field, and
 * `*` means all fields. Throws `ConfigProblem`.
 */
export function fieldsNamed(names: string, all: readonly WebhookField[]): Fields {
  const chosen = new Set<WebhookField>();
  for (const name of names.split(",").map((one) => one.trim())) {
    const found = all.filter(({ object, field }) => name === "*" || name === field || name === `${object}.${field}` || name === `${object}.*`);
    if (found.length === 0)
      throw new ConfigProblem("--events", `there is no event ${name}${suggestion(name, eventNames(all))}; plaza trigger --list shows all events`);
    for (const one of found) chosen.add(one);
  }
  return Object.fromEntries(
    Map.groupBy(chosen, ({ object }) => object)
      .entries()
      .map(([object, of]) => [object, of.map(({ field }) => field)]),
  );
}

export async function findApp(control: ControlRequests, id: string | undefined): Promise<AppEntry> {
  if (id !== undefined) return (await control.request("GET", `nodes/apps/${encodeURIComponent(id)}`)) as AppEntry;
  const { data } = (await control.request("GET", "nodes/apps?limit=2")) as { data: AppEntry[] };
  const [only, second] = data;
  if (only === undefined || second !== undefined)
    throw new ControlRefusal(only === undefined ? "the world has no app" : "the world has several apps: choose one with --app");
  return only;
}

interface Account {
  readonly id: string;
  readonly subscribed_apps?: readonly { readonly app: string; readonly subscribed_fields?: readonly string[] }[];
  readonly app_connections?: readonly string[];
}

/** For each object of webhooks, the nodes that store the subscriptions. The subscription of a catalog is stored on its page and covers all fields. */
const subscribedOn = { ...nodesOf, catalog: "pages" } as const;

/** For each object, the change of an account after which the app gets the account's webhook fields; undefined if the app already gets the fields. */
const change: Readonly<Record<WebhookObject, (account: Account, app: string, fields: readonly string[]) => Partial<Account> | undefined>> = {
  page: ({ subscribed_apps = [] }, app, fields) => {
    const before = subscribed_apps.find((one) => one.app === app)?.subscribed_fields ?? [];
    if (fields.every((field) => before.includes(field))) return undefined;
    const subscribed_fields = [...new Set([...before, ...fields])];
    return { subscribed_apps: [...subscribed_apps.filter((one) => one.app !== app), { app, subscribed_fields }] };
  },
  chatapp_business_account: ({ subscribed_apps = [] }, app) =>
    subscribed_apps.some((one) => one.app === app) ? undefined : { subscribed_apps: [...subscribed_apps, { app }] },
  catalog: ({ subscribed_apps = [] }, app) =>
    subscribed_apps.some((one) => one.app === app) ? undefined : { subscribed_apps: [...subscribed_apps, { app, subscribed_fields: [] }] },
  social: ({ app_connections = [] }, app) => (app_connections.includes(app) ? undefined : { app_connections: [...app_connections, app] }),
};

/** An account that the command changed, with the app's earlier subscriptions on the account. */
export interface Subscribed {
  readonly object: WebhookObject;
  readonly id: string;
  readonly before: Account;
}

const pathOf = ({ object, id }: Pick<Subscribed, "object" | "id">): string => `nodes/${subscribedOn[object]}/${id}`;

/** Returns the change that restores the app's earlier subscriptions on the account. Subscriptions of other apps stay unchanged. */
function restored({ object, before }: Subscribed, now: Account, app: string): Partial<Account> {
  if (object === "social") return { app_connections: (now.app_connections ?? []).filter((one) => one !== app) };
  const others = (now.subscribed_apps ?? []).filter((one) => one.app !== app);
  return { subscribed_apps: [...others, ...(before.subscribed_apps ?? [])] };
}

/** Subscribes the app to every account and page that can send the chosen webhook fields. The function adds each changed account to `subscribed`. */
export async function subscribeAccounts(control: ControlRequests, app: string, fields: Fields, subscribed: Subscribed[]): Promise<void> {
  for (const [object, names] of Object.entries(fields) as [WebhookObject, readonly string[]][]) {
    if (names.length === 0) continue;
    for await (const account of accountsOf(control, subscribedOn[object])) {
      const changed = change[object](account, app, names);
      if (changed === undefined) continue;
      const { id, subscribed_apps = [] } = account;
      await control.request("PATCH", pathOf({ object, id }), changed);
      subscribed.push({ object, id, before: { id, subscribed_apps: subscribed_apps.filter((one) => one.app === app) } });
    }
  }
}

/** Restores the accounts' subscriptions, the last changed account first. An account that was deleted meanwhile is skipped. */
export async function unsubscribeAccounts(control: ControlRequests, app: string, subscribed: readonly Subscribed[]): Promise<void> {
  for (const one of subscribed.toReversed()) {
    try {
      const now = (await control.request("GET", pathOf(one))) as Account;
      await control.request("PATCH", pathOf(one), restored(one, now, app));
    } catch (error) {
      if (!(error instanceof ControlRefusal)) throw error;
    }
  }
}

async function* accountsOf(control: ControlRequests, key: string): AsyncGenerator<Account> {
  let count = 0;
  for await (const account of entriesOf<Account>(control, `nodes/${key}?limit=${ACCOUNTS_PAGE}`)) {
    yield account;
    if (++count === ACCOUNTS_MAX) return;
  }
}
