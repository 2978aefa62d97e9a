/**
 * `plaza listen`: becomes the callback of an app until the command ends. The command prints a line for each webhook, and forwards the webhook with
 * its bytes and signatures unchanged. The command passes the receiver's status on to the server, so that a developer can watch retries.
 */
import { timingSafeEqual } from "node:crypto";
import { ConfigProblem } from "#config/config";
import { listening, pagesOf, portOf } from "#config/listening";
import { ControlRefusal, type ControlRequests, resultOf } from "#control/client/requests";
import { readEvents } from "#control-contract/event-stream";
import { type CommandResponse, plainText, serveCommand } from "#http/commands/command-server";
import type { RequestHead } from "#http/http1/request-head";
import { timeText } from "#kernel/clock";
import { findHeader, type RawHeaders } from "#kernel/http-text/headers";
import { buildRegistry } from "#main";
import { sleepMs } from "#system";
import { signatureHeaders } from "#webhooks/delivery/signing";
import { controlRequests, type Given, withServer } from "../control-client.ts";
import { nextSignal, outputClosed } from "../process-end.ts";
import { directTo } from "../proxies.ts";
import { note, printable, say } from "../terminal/output.ts";
import {
  type AppEntry,
  type Fields,
  fieldsNamed,
  findApp,
  type Subscribed,
  type Subscription,
  subscribeAccounts,
  unsubscribeAccounts,
} from "./subscribing.ts";

/** The HTTP status that `plaza listen` returns to the server if the receiver does not respond. */
const BAD_GATEWAY = 502;
const BAD_REQUEST = 400;
const UNAUTHORIZED = 401;
const HOST = "127.0.0.1";
/** The time in which the receiver must respond. The server waits equally long for the response of `plaza listen` (D-62). */
const FORWARD_MS_MAX = 15_000;

/** Listens until a signal ends the command. Resolves with the exit code. */
export function listen(given: Given): Promise<number> {
  return withServer(given, async (control) => {
    const app = await findApp(control, given.app as string | undefined);
    if (given.print_secret === true) {
      say(app.secret);
      return 0;
    }
    await receive(control, app, given);
    return 0;
  });
}

async function receive(first: ControlRequests, app: AppEntry, given: Given): Promise<void> {
  const forwardTo = forwardAddress(given.forward_to);
  const fields = fieldsFor(app, given.events as string | undefined);
  // If the bodies of webhooks are printed on stdout, all other output goes to stderr.
  const isBodies = given.print_json === true;
  const tell = isBodies ? note : say;
  const signed = new Signed(app, () => control);
  const take = async ({ headers }: RequestHead, bytes: Buffer): Promise<number> => {
    const body = bytes.toString();
    const webhook = webhookIn(body);
    const problem = webhook === undefined ? "something that is not a webhook" : "a webhook that is not signed with the app's secret";
    if (webhook === undefined || !(await signed.isBy(findHeader(headers, SIGNATURE), body))) {
      const status = webhook === undefined ? BAD_REQUEST : UNAUTHORIZED;
      tell(`received ${problem} → ${status}`);
      return status;
    }
    if (isBodies) say(process.stdout.isTTY ? JSON.stringify(webhook, undefined, 2) : body);
    const status = forwardTo === undefined ? 200 : await forward(forwardTo, headers, bytes, tell);
    const time = timeText(Number(findHeader(headers, "webhook-timestamp")));
    tell(printable(`${time} ${summaryOf(webhook)} ${findHeader(headers, "webhook-id")} → ${status}`));
    return status;
  };
  const port = portOf(given.port);
  const listener = await listening("--port", HOST, port, () =>
    serveCommand({
      ...{ host: HOST, port, pages: pagesOf({ public_url: given.public_url }) },
      refusal: "plaza listen accepts only webhooks that are sent to this machine or to --public-url, not requests of web pages",
      handle: async (head, body) => (head.method === "GET" ? handshakeResponse(head) : { ...EMPTY, status: await take(head, body) }),
    }),
  );
  const url = (given.public_url as string | undefined) ?? `http://${HOST}:${listener.port}/`;
  const ended = Promise.race([nextSignal(), outputClosed()]);
  const subscribed: Subscribed[] = [];
  const following = new AbortController();
  let control = first;
  const subscribe = async (entry: AppEntry): Promise<void> => {
    await takeCallback(control, entry, url, fields);
    if (given.subscribe !== false) await subscribeAccounts(control, app.id, fields ?? fieldsOf(entry), subscribed);
  };
  const onBack = async (back: ControlRequests): Promise<void> => {
    control = back;
    const entry = await findApp(control, app.id);
    if (isTaken(entry, url)) return;
    subscribed.length = 0;
    await subscribe(entry);
  };
  try {
    await subscribe(app);
    const forwarding = forwardTo === undefined ? "" : `, forwarding to ${forwardTo}`;
    tell(`receiving the webhooks of app ${app.id} at ${url}${forwarding}; Ctrl-C restores the app's callback`);
    if (subscribed.length > 0) tell(`until Ctrl-C the app is also subscribed to ${subscribed.length} further accounts and pages`);
    tell(`signing secret: ${app.secret} (for a Standard Webhooks library: whsec_${Buffer.from(app.secret).toString("base64")})`);
    await Promise.race([ended, followServer({ given, signal: following.signal, tell, onBack }, first)]);
  } finally {
    following.abort();
    await giveBack(control, app.id, url, subscribed).catch((error: unknown) => unreached(error, app.id, url));
    await listener.stop(0);
  }
}

const EMPTY: CommandResponse = { status: 200, headers: [], body: Buffer.alloc(0) };

/** D-61: makes the response to the handshake, which must contain the server's challenge. */
const handshakeResponse = ({ target }: RequestHead): CommandResponse =>
  plainText(200, new URLSearchParams(target.queryText).get("hub.challenge") ?? "");

const SIGNATURE = "x-hub-signature-256";

/**
 * Checks whether webhooks are signed with the app's secret. Without the check of signatures, any program on this machine, or on the internet if a
 * tunnel is used, could send a webhook to the listener.
 */
class Signed {
  readonly #control: () => ControlRequests;
  #app: AppEntry;

  constructor(app: AppEntry, control: () => ControlRequests) {
    this.#app = app;
    this.#control = control;
  }

  /**
   * Returns whether the signature of the webhook is right. If the signature is wrong, the app's secret is read again, because the
   * secret may have been replaced.
   */
  async isBy(signature = "", body: string): Promise<boolean> {
    if (isSignature(signature, this.#app.secret, body)) return true;
    this.#app = await findApp(this.#control(), this.#app.id);
    return isSignature(signature, this.#app.secret, body);
  }
}

function isSignature(signature: string, secret: string, body: string): boolean {
  const expected = signatureHeaders([secret], { webhookId: "", timestamp: 0, body })["X-Hub-Signature-256"] ?? "";
  return signature.length === expected.length && timingSafeEqual(Buffer.from(signature, "latin1"), Buffer.from(expected));
}

/** Warns that the app's own callback cannot be restored, because the server cannot be reached. */
function unreached(error: unknown, app: string, url: string): void {
  if (!(error instanceof ConfigProblem)) throw error;
  note(`plaza: no server responds, so ${url} is still the callback of app ${app} in the server's data`);
}

function forwardAddress(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  const address = String(given);
  // The addresses `3000/hook` and `localhost:3000/hook` mean a receiver on this machine.
  const full = /^\d+(\/|$)/.test(address) ? `http://localhost:${address}` : address.includes("://") ? address : `http://${address}`;
  if (!/^https?:\/\//.test(full) || !URL.canParse(full)) throw new ConfigProblem("--forward-to", `"${address}" is not an http address`);
  return full;
}

/**
 * The app's subscriptions while the command listens: the events of the option, undefined for the app's own subscriptions, or
 * every event if the app has none.
 */
function fieldsFor({ subscriptions = [] }: AppEntry, names: string | undefined): Fields | undefined {
  if (names === undefined && subscriptions.length > 0) return undefined;
  return fieldsNamed(names ?? "*", buildRegistry().webhookFields.all);
}

const fieldsOf = ({ subscriptions = [] }: AppEntry): Fields => Object.fromEntries(subscriptions.map(({ object, fields }) => [object, fields]));

/** The headers that are not forwarded, because they belong to the connection and not to the webhook. */
const OF_THE_CONNECTION = new Set(["host", "connection", "content-length", "transfer-encoding"]);

async function forward(url: string, headers: RawHeaders, body: Buffer, tell: (line: string) => void): Promise<number> {
  const kept = new Headers();
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (!OF_THE_CONNECTION.has(name.toLowerCase())) kept.append(name, headers[i + 1] as string);
  }
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: kept,
      body,
      redirect: "manual",
      ...directTo(url),
      signal: AbortSignal.timeout(FORWARD_MS_MAX),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    tell(`  ${url} did not respond: ${error instanceof Error ? error.message : error}`);
    return BAD_GATEWAY;
  }
}

interface Webhook {
  readonly object: string;
  readonly entry: readonly {
    readonly id: string;
    readonly changes?: readonly { readonly field: string }[];
    readonly messaging?: readonly unknown[];
  }[];
}

/** Parses a webhook. Returns undefined if the body is not a webhook, because any program on this machine may send to the listener. */
function webhookIn(body: string): Webhook | undefined {
  try {
    const webhook = JSON.parse(body) as Webhook;
    summaryOf(webhook);
    return webhook;
  } catch {
    return undefined;
  }
}

/** Writes the line about a webhook: `chatapp_business_account 4001 messages, calls (3)`. */
function summaryOf({ object, entry }: Webhook): string {
  const fields = new Set(entry.flatMap(({ changes }) => (changes === undefined ? ["messages"] : changes.map(({ field }) => field))));
  const updates = entry.reduce((count, { changes, messaging }) => count + (changes ?? messaging ?? []).length, 0);
  return `${object} ${[...new Set(entry.map(({ id }) => id))].join(", ")} ${[...fields].join(", ")}${updates > 1 ? ` (${updates})` : ""}`;
}

/**
 * `plaza listen` replaces the callback of an app, and restores it at the end. If several listeners run for one app, the listener that began
 * last receives the webhooks. Each listener stores the app's earlier callbacks in the verify token of its own callback, so that the listeners
 * can end in any order. The verify token can store the earlier callbacks, because a listener's callback is never verified.
 */
type Callback = NonNullable<AppEntry["callback"]>;

/** The callbacks and subscriptions that a listener restores when it ends. */
interface Taken {
  /** The app's callback before this listener, and then before each earlier listener of the app, the latest first. */
  readonly before: readonly State[];
  /** The accounts that this listener unsubscribes for listeners that have already ended. */
  readonly accounts: readonly Subscribed[];
}

interface State {
  readonly callback: Callback | null;
  readonly subscriptions: readonly Subscription[];
  /** If the callback belongs to a listener, this list has the `accounts` of that listener. */
  readonly accounts: readonly Subscribed[];
}

const NOTE = "plaza listen ";
const nothing: Taken = { before: [], accounts: [] };

const callbackOf = (callback: Callback, taken: Taken): Callback => ({ ...callback, verify_token: NOTE + JSON.stringify(taken) });

/** Reads the data that a listener has stored in the app's callback; undefined if the callback does not belong to a listener. */
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

/** Makes `url` the only callback of the app. */
export async function takeCallback(control: ControlRequests, app: AppEntry, url: string, fields: Fields | undefined): Promise<void> {
  const wanted = fields === undefined ? (app.subscriptions ?? []) : Object.entries(fields).map(([object, names]) => ({ object, fields: names }));
  // The callbacks of single objects are left out, because the server would send webhooks to these callbacks instead of the listener.
  const subscriptions = wanted.map(({ object, fields: names }) => ({ object, fields: names }));
  const taken = { before: [stateOf(app), ...(takenOf(app) ?? nothing).before], accounts: [] };
  await control.request("PATCH", pathOf(app.id), { callback: callbackOf({ url, verified: true }, taken), subscriptions });
}

/**
 * Whether the listener at `url` is the app's callback, or is stored as an earlier callback. If the world was reset or replaced, the app's
 * callback is no longer the listener.
 */
export const isTaken = (app: AppEntry, url: string): boolean =>
  app.callback?.url === url || takenOf(app)?.before.some((state) => state.callback?.url === url) === true;

/**
 * Restores the app's callback and subscriptions, and the subscriptions of accounts. If another listener began after this one, the later
 * listener gets the data that this listener would restore.
 */
export async function giveBack(control: ControlRequests, id: string, url: string, accounts: readonly Subscribed[]): Promise<void> {
  const app = await findApp(control, id).catch(goneOnly);
  const { callback } = app ?? {};
  const taken = (app === undefined ? undefined : takenOf(app)) ?? nothing;
  const own = taken.before.findIndex((state) => state.callback?.url === url);
  if (callback !== undefined && own !== -1) {
    await control.request("PATCH", pathOf(id), { callback: callbackOf(callback, without(taken, own, accounts)) });
    return;
  }
  // If another program has set the app's callback meanwhile, the callback of that program stays.
  const [last, ...before] = callback?.url === url ? taken.before : [];
  if (last !== undefined) {
    const isListener = last.callback !== null && before.length > 0;
    const former = isListener ? callbackOf(last.callback, { before, accounts: last.accounts }) : last.callback;
    await control.request("PATCH", pathOf(id), { callback: former, subscriptions: last.subscriptions });
  }
  await unsubscribeAccounts(control, id, [...taken.accounts, ...accounts]);
}

/**
 * Removes the ending listener, which has the index `own`, from the stored callbacks. The listener that began after the ending one will restore
 * the callback that the ending listener would have restored.
 */
function without({ before, accounts }: Taken, own: number, left: readonly Subscribed[]): Taken {
  const handed = [...(before[own]?.accounts ?? []), ...left];
  const kept = before.map((state, at) => (at === own - 1 ? { ...state, accounts: [...state.accounts, ...handed] } : state)).toSpliced(own, 1);
  return { before: kept, accounts: own === 0 ? [...accounts, ...handed] : accounts };
}

/** Ignores the error if the app does not exist any more, because somebody may have deleted it meanwhile. */
function goneOnly(error: unknown): undefined {
  if (!(error instanceof ControlRefusal)) throw error;
}

/** The interval at which the command tries to reach the server. The interval is short, because a restart of the server takes less than a second. */
const TRY_EVERY_MS = 1_000;
const UNAVAILABLE = 500;

interface Following {
  /** The options of the command, by which the listener finds the server again if the server's port has changed. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  tell(line: string): void;
  /** Called when the server responds again, perhaps with another world. */
  onBack(control: ControlRequests): Promise<void>;
}

/**
 * Stays connected to the server until a signal ends the command, and then resolves. The promise rejects if the server refuses a request
 * because the world or the app was deleted or the control key has changed.
 */
async function followServer(following: Following, first: ControlRequests): Promise<void> {
  const { signal, tell, onBack } = following;
  let control = first;
  while (!signal.aborted) {
    await connectionEnds(control, signal);
    let isSaid = false;
    for (let back = await findServer(following); !signal.aborted; back = await findServer(following)) {
      if (back !== undefined) {
        control = back;
        break;
      }
      if (!isSaid) tell("the server has ended; plaza listen waits until the server is back; press Ctrl-C to end the wait");
      isSaid = true;
      await sleepMs(TRY_EVERY_MS);
    }
    if (signal.aborted) return;
    if (isSaid) {
      await onBack(control);
      tell("the server is back");
    }
    // A server that is about to end still accepts connections and closes them at once, so the next try needs a pause.
    await sleepMs(TRY_EVERY_MS);
  }
}

/** Waits until the server closes a stream, which the server does when it ends. */
async function connectionEnds(control: ControlRequests, signal: AbortSignal): Promise<void> {
  try {
    const response = await control.send(`${control.world}/alerts`, { headers: { accept: "text/event-stream" }, signal });
    if (response.ok) for await (const _ of readEvents(response));
  } catch {
    // The next request shows why the stream has ended.
  }
}

/** Finds the server. Returns undefined if the server does not respond yet. */
async function findServer({ given, signal }: Following): Promise<ControlRequests | undefined> {
  try {
    const control = await controlRequests(given);
    const response = await control.send(`${control.world}/clock`, { signal });
    if (response.status < UNAVAILABLE) await resultOf(response);
    return response.ok ? control : undefined;
  } catch (error) {
    if (error instanceof ConfigProblem || signal.aborted) return undefined;
    throw error;
  }
}
