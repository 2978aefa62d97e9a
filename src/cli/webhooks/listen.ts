/**
 * `plaza listen`: becomes the callback of an app until it ends, prints a line for each webhook, and forwards it with bytes and
 * signatures unchanged. It returns the receiver's status to the server, so that retries can be watched.
 */
import { ConfigProblem } from "#config/config";
import { listening, portOf } from "#config/listening";
import { listenForWebhooks, type ReceivedWebhook } from "#http/commands/webhook-listener";
import { buildRegistry } from "#main";
import { outputClosed } from "../closed-pipe.ts";
import { type ControlRequests, withServer } from "../control-client.ts";
import { nextSignal } from "../process-end.ts";
import { note, printable, say, timeText } from "../terminal/output.ts";
import { giveBack, isTaken, takeCallback } from "./callback.ts";
import { followServer } from "./following.ts";
import { type AppEntry, type Fields, fieldsNamed, findApp, type Subscribed, subscribeAccounts } from "./subscribing.ts";

type Given = Readonly<Record<string, unknown>>;

/** Returned to the server if the receiver does not respond. */
const BAD_GATEWAY = 502;
const BAD_REQUEST = 400;
/** The server waits as long (D-62). */
const FORWARD_MS_MAX = 15_000;

/** Resolves with the exit code after a signal. */
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
  // With bodies on stdout, it holds nothing else.
  const isBodies = given.print_json === true;
  const tell = isBodies ? note : say;
  const print = async ({ headers, body }: ReceivedWebhook): Promise<number> => {
    const webhook = webhookIn(body);
    if (webhook === undefined) {
      tell("received something that is no webhook → 400");
      return BAD_REQUEST;
    }
    if (isBodies) say(process.stdout.isTTY ? JSON.stringify(webhook, undefined, 2) : body);
    const status = forwardTo === undefined ? 200 : await forward(forwardTo, headers, body, tell);
    const time = timeText(Number(headers["webhook-timestamp"]));
    tell(printable(`${time} ${summaryOf(webhook)} ${headers["webhook-id"]} → ${status}`));
    return status;
  };
  const host = String(given.host ?? "127.0.0.1");
  const port = portOf(given.port);
  const listener = await listening("--port", host, port, () => listenForWebhooks(host, port, print));
  const url = (given.public_url as string | undefined) ?? `http://127.0.0.1:${listener.port}/`;
  const ended = Promise.race([nextSignal(), outputClosed()]);
  const subscribed: Subscribed[] = [];
  const following = new AbortController();
  let control = first;
  const take = async (entry: AppEntry): Promise<void> => {
    await takeCallback(control, entry, url, fields);
    if (given.subscribe !== false) await subscribeAccounts(control, app.id, fields ?? fieldsOf(entry), subscribed);
  };
  const onBack = async (back: ControlRequests): Promise<void> => {
    control = back;
    const entry = await findApp(control, app.id);
    if (isTaken(entry, url)) return;
    subscribed.length = 0;
    await take(entry);
  };
  try {
    await take(app);
    const forwarding = forwardTo === undefined ? "" : `, forwarding to ${forwardTo}`;
    tell(`receiving the webhooks of app ${app.id} at ${url}${forwarding}; Ctrl-C restores its callback`);
    if (subscribed.length > 0) tell(`until then it is also subscribed to ${subscribed.length} further accounts and pages`);
    tell(`signing secret: ${app.secret} (for a Standard Webhooks library: whsec_${Buffer.from(app.secret).toString("base64")})`);
    await Promise.race([ended, followServer({ given, signal: following.signal, tell, onBack }, first)]);
  } finally {
    following.abort();
    await giveBack(control, app.id, url, subscribed).catch((error: unknown) => unreached(error, app.id, url));
    await listener.stop();
  }
}

/** There is no server to give it back to. */
function unreached(error: unknown, app: string, url: string): void {
  if (!(error instanceof ConfigProblem)) throw error;
  note(`plaza: no server responds, so ${url} stays the callback of app ${app} where its data are kept`);
}

function forwardAddress(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  const address = String(given);
  // `3000/hook` and `localhost:3000/hook`: a receiver on this machine is what most people mean.
  const full = /^\d+(\/|$)/.test(address) ? `http://localhost:${address}` : address.includes("://") ? address : `http://${address}`;
  if (!/^https?:\/\//.test(full) || !URL.canParse(full)) throw new ConfigProblem("--forward-to", `"${address}" is not an http address`);
  return full;
}

/** What the app is subscribed to meanwhile: what is named; else its own subscriptions (undefined); else everything. */
function fieldsFor({ subscriptions = [] }: AppEntry, names: string | undefined): Fields | undefined {
  if (names === undefined && subscriptions.length > 0) return undefined;
  return fieldsNamed(names ?? "*", buildRegistry().webhookFields.all);
}

const fieldsOf = ({ subscriptions = [] }: AppEntry): Fields => Object.fromEntries(subscriptions.map(({ object, fields }) => [object, fields]));

/** Headers of the connection, which do not belong to the webhook. */
const OF_THE_CONNECTION = new Set(["host", "connection", "content-length", "transfer-encoding"]);

async function forward(url: string, headers: ReceivedWebhook["headers"], body: string, tell: (line: string) => void): Promise<number> {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name)));
  try {
    const response = await fetch(url, { method: "POST", headers: kept, body, redirect: "manual", signal: AbortSignal.timeout(FORWARD_MS_MAX) });
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

/** Anything on this machine may send to the listener. */
function webhookIn(body: string): Webhook | undefined {
  try {
    const webhook = JSON.parse(body) as Webhook;
    summaryOf(webhook);
    return webhook;
  } catch {
    return undefined;
  }
}

/** `chatapp_business_account 4001 messages, calls (3)`. */
function summaryOf({ object, entry }: Webhook): string {
  const fields = new Set(entry.flatMap(({ changes }) => (changes === undefined ? ["messages"] : changes.map(({ field }) => field))));
  const updates = entry.reduce((count, { changes, messaging }) => count + (changes ?? messaging ?? []).length, 0);
  return `${object} ${[...new Set(entry.map(({ id }) => id))].join(", ")} ${[...fields].join(", ")}${updates > 1 ? ` (${updates})` : ""}`;
}
