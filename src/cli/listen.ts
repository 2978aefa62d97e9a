/**
 * `plaza listen`: becomes the callback of an app until it ends, prints a line for each webhook, and forwards it with bytes and
 * signatures unchanged. It returns the receiver's status to the server, so that retries can be watched.
 */
import { listenForWebhooks, type ReceivedWebhook } from "#http/commands/webhook-listener";
import { buildRegistry } from "#main";
import { webhookObjects } from "#webhooks/catalogue/field";
import { outputClosed } from "./closed-pipe.ts";
import { ControlRefusal, type ControlRequests, controlRequests } from "./control-client.ts";
import { nextSignal } from "./process-end.ts";

type Given = Readonly<Record<string, unknown>>;

const FAILED = 1;
const WRONG_USE = 2;
/** Returned to the server if the receiver does not respond. */
const BAD_GATEWAY = 502;
/** The server waits as long (D-62). */
const FORWARD_MS_MAX = 15_000;

interface AppEntry {
  readonly id: string;
  readonly callback?: { readonly url: string; readonly verify_token?: string; readonly verified?: boolean };
  readonly subscriptions?: readonly { readonly object: string; readonly fields: readonly string[] }[];
}

/** Resolves with the exit code after a signal. */
export async function listen(given: Given): Promise<number> {
  const forwardTo = given.forward_to as string | undefined;
  if (forwardTo !== undefined && !/^https?:\/\//.test(forwardTo)) return fail(`--forward-to: "${forwardTo}" is not an http address`, WRONG_USE);
  try {
    const control = await controlRequests(given);
    const app = await findApp(control, given.app as string | undefined);
    const listener = listenForWebhooks(String(given.host ?? "127.0.0.1"), Number(given.port ?? 0), (webhook) => take(webhook, forwardTo));
    const url = (given.public_url as string | undefined) ?? `http://127.0.0.1:${listener.port}/`;
    const ended = Promise.race([nextSignal(), outputClosed()]);
    const restore = await becomeCallback(control, app, url);
    say(
      `receiving the webhooks of app ${app.id} at ${url}${forwardTo === undefined ? "" : `, forwarding to ${forwardTo}`}; Ctrl-C restores its callback`,
    );
    await ended;
    await restore();
    await listener.stop();
    return 0;
  } catch (error) {
    if (error instanceof ControlRefusal) return fail(error.message, FAILED);
    if (error instanceof Error && error.name === "ConfigProblem") return fail(error.message, WRONG_USE);
    throw error;
  }
}

async function findApp(control: ControlRequests, id: string | undefined): Promise<AppEntry> {
  if (id !== undefined) return (await control.request("GET", `nodes/apps/${encodeURIComponent(id)}`)) as AppEntry;
  const { data } = (await control.request("GET", "nodes/apps?limit=2")) as { data: AppEntry[] };
  const [only, second] = data;
  if (only === undefined || second !== undefined)
    throw new ControlRefusal(only === undefined ? "the world has no app" : "the world has several apps: choose one with --app");
  return only;
}

/** Subscribes an app without subscriptions to everything. Returns a function that restores callback and subscriptions. */
async function becomeCallback(control: ControlRequests, { id, callback, subscriptions = [] }: AppEntry, url: string): Promise<() => Promise<void>> {
  const path = `nodes/apps/${id}`;
  const { webhookFields } = buildRegistry();
  const all = webhookObjects.map((object) => ({ object, fields: webhookFields.namesOf(object) }));
  await control.request("PATCH", path, { callback: { url, verified: true }, ...(subscriptions.length === 0 ? { subscriptions: all } : {}) });
  return async () => {
    await control.request("PATCH", path, { callback: callback ?? null, subscriptions });
  };
}

async function take({ headers, body }: ReceivedWebhook, forwardTo: string | undefined): Promise<number> {
  const status = forwardTo === undefined ? 200 : await forward(forwardTo, headers, body);
  say(`${new Date(Number(headers["webhook-timestamp"]) * 1000).toISOString()} ${summaryOf(body)} ${headers["webhook-id"]} → ${status}`);
  return status;
}

/** Headers of the connection, which do not belong to the webhook. */
const OF_THE_CONNECTION = new Set(["host", "connection", "content-length", "transfer-encoding"]);

async function forward(url: string, headers: ReceivedWebhook["headers"], body: string): Promise<number> {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name)));
  try {
    const response = await fetch(url, { method: "POST", headers: kept, body, redirect: "manual", signal: AbortSignal.timeout(FORWARD_MS_MAX) });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    say(`  ${url} did not respond: ${error instanceof Error ? error.message : error}`);
    return BAD_GATEWAY;
  }
}

/** `chatapp_business_account 4001 messages, calls (3)`. */
function summaryOf(body: string): string {
  const { object, entry } = JSON.parse(body) as { object: string; entry: { id: string; changes?: { field: string }[]; messaging?: unknown[] }[] };
  const fields = new Set(entry.flatMap(({ changes }) => (changes === undefined ? ["messages"] : changes.map(({ field }) => field))));
  const updates = entry.reduce((count, { changes, messaging }) => count + (changes ?? messaging ?? []).length, 0);
  return `${object} ${[...new Set(entry.map(({ id }) => id))].join(", ")} ${[...fields].join(", ")}${updates > 1 ? ` (${updates})` : ""}`;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function fail(message: string, code: number): number {
  process.stderr.write(`plaza: ${message}\n`);
  return code;
}
