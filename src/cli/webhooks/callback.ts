/**
 * The callback that `plaza listen` takes from an app and gives back. Of several on one app, the last one receives. Each notes in the verify token
 * of its callback, for which nobody is asked, what there was before it, so that they may end in any order.
 */
import { ControlRefusal, type ControlRequests } from "../control-client.ts";
import { type AppEntry, type Fields, findApp, type Subscribed, type Subscription, unsubscribeAccounts } from "./subscribing.ts";

type Callback = NonNullable<AppEntry["callback"]>;

/** What a listener gives back. */
interface Taken {
  /** The app as it was, and as it was before each other listener on it, the last one first. */
  readonly before: readonly State[];
  /** Accounts that listeners have left to it, which ended while it received. */
  readonly accounts: readonly Subscribed[];
}

interface State {
  readonly callback: Callback | null;
  readonly subscriptions: readonly Subscription[];
  /** Of a listener: `accounts` above. */
  readonly accounts: readonly Subscribed[];
}

const NOTE = "plaza listen ";
const nothing: Taken = { before: [], accounts: [] };

const callbackOf = (callback: Callback, taken: Taken): Callback => ({ ...callback, verify_token: NOTE + JSON.stringify(taken) });

/** Undefined: the callback is not that of a listener. */
const takenOf = ({ callback }: AppEntry): Taken | undefined =>
  callback?.verify_token?.startsWith(NOTE) === true ? (JSON.parse(callback.verify_token.slice(NOTE.length)) as Taken) : undefined;

function stateOf(app: AppEntry): State {
  const { callback = null, subscriptions = [] } = app;
  const taken = takenOf(app);
  if (callback === null || taken === undefined) return { callback, subscriptions, accounts: [] };
  const { verify_token: _, ...rest } = callback;
  return { callback: rest, subscriptions, accounts: taken.accounts };
}

const pathOf = (id: string): string => `nodes/apps/${id}`;

/** Makes `url` the callback of the app alone. */
export async function takeCallback(control: ControlRequests, app: AppEntry, url: string, fields: Fields | undefined): Promise<void> {
  const wanted = fields === undefined ? (app.subscriptions ?? []) : Object.entries(fields).map(([object, names]) => ({ object, fields: names }));
  // A callback of one object would take that object's webhooks.
  const subscriptions = wanted.map(({ object, fields: names }) => ({ object, fields: names }));
  const taken = { before: [stateOf(app), ...(takenOf(app) ?? nothing).before], accounts: [] };
  await control.request("PATCH", pathOf(app.id), { callback: callbackOf({ url, verified: true }, taken), subscriptions });
}

/** Whether the listener at `url` has taken it: a world that was made anew knows nothing of it. */
export const isTaken = (app: AppEntry, url: string): boolean =>
  app.callback?.url === url || takenOf(app)?.before.some((state) => state.callback?.url === url) === true;

/** Gives back callback, subscriptions and accounts, or leaves that to the listener that took them from this one. */
export async function giveBack(control: ControlRequests, id: string, url: string, accounts: readonly Subscribed[]): Promise<void> {
  const app = await findApp(control, id).catch(goneOnly);
  const { callback } = app ?? {};
  const taken = (app === undefined ? undefined : takenOf(app)) ?? nothing;
  const own = taken.before.findIndex((state) => state.callback?.url === url);
  if (callback !== undefined && own !== -1) {
    await control.request("PATCH", pathOf(id), { callback: callbackOf(callback, without(taken, own, accounts)) });
    return;
  }
  // What somebody else has made the callback since then stays.
  const [last, ...before] = callback?.url === url ? taken.before : [];
  if (last !== undefined) {
    const isListener = last.callback !== null && before.length > 0;
    const former = isListener ? callbackOf(last.callback, { before, accounts: last.accounts }) : last.callback;
    await control.request("PATCH", pathOf(id), { callback: former, subscriptions: last.subscriptions });
  }
  await unsubscribeAccounts(control, id, [...taken.accounts, ...accounts]);
}

/** The listener after the one that ends gets what that one had to give back. */
function without({ before, accounts }: Taken, own: number, left: readonly Subscribed[]): Taken {
  const handed = [...(before[own]?.accounts ?? []), ...left];
  const kept = before.map((state, at) => (at === own - 1 ? { ...state, accounts: [...state.accounts, ...handed] } : state)).toSpliced(own, 1);
  return { before: kept, accounts: own === 0 ? [...accounts, ...handed] : accounts };
}

/** The app may have been deleted meanwhile. */
function goneOnly(error: unknown): undefined {
  if (!(error instanceof ControlRefusal)) throw error;
}
