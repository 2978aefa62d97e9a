/** `plaza trigger <event>`: makes an example event and prints the result at each callback. */
import { setTimeout as sleep } from "node:timers/promises";
import { buildRegistry } from "#main";
import type { WebhookField } from "#webhooks/catalogue/field";
import { ControlRefusal, type ControlRequests, controlRequests } from "./control-client.ts";

type Given = Readonly<Record<string, unknown>>;

const FAILED = 1;
const WRONG_USE = 2;
/** A callback has 15 s to respond (D-62). */
const WAIT_MS_MAX = 17_000;
const LOOK_MS = 50;

/** The key of a world file whose nodes have the events of an object. */
const NODES = { social: "social_accounts", chatapp_business_account: "chatapp_accounts", page: "pages", catalog: "catalogs" } as const;

interface Delivery {
  readonly id: string;
  readonly app: string;
  readonly callback?: string;
  readonly status: string;
  readonly reason?: string;
  readonly attempts: readonly { readonly status?: number; readonly latency_ms?: number; readonly error?: string }[];
}

const { all } = buildRegistry().webhookFields;

/** Resolves with the exit code: 0 if every callback accepted the event. */
export async function trigger(event: string, given: Given): Promise<number> {
  const field = fieldOf(event);
  if (field === undefined) return fail(`there is no event ${event}; choose one of ${names().join(", ")}`, WRONG_USE);
  try {
    const control = await controlRequests(given);
    const entity = (given.entity as string | undefined) ?? (await anyOf(control, field.object));
    const { deliveries } = (await control.request("POST", "deliveries/trigger", {
      object: field.object,
      field: field.field,
      entity,
      ...(given.phone_number === undefined ? {} : { phone_number: given.phone_number }),
      ...(given.value === undefined ? {} : { value: JSON.parse(String(given.value)) }),
    })) as { deliveries: string[] };
    let hasFailed = false;
    for (const id of deliveries) {
      const delivery = await ended(control, id);
      hasFailed ||= delivery.status !== "delivered";
      process.stdout.write(`${lineOf(delivery)}\n`);
    }
    return hasFailed ? FAILED : 0;
  } catch (error) {
    if (error instanceof ControlRefusal) return fail(error.message, FAILED);
    if (error instanceof SyntaxError) return fail(`--value is not JSON: ${error.message}`, WRONG_USE);
    if (error instanceof Error && error.name === "ConfigProblem") return fail(error.message, WRONG_USE);
    throw error;
  }
}

/** `object.field`, or a field only, which selects the first object of the catalogue that has it. */
const fieldOf = (event: string): WebhookField | undefined =>
  all.find(({ object, field }) => event === `${object}.${field}`) ?? all.find(({ field }) => event === field);

const names = (): string[] => all.map(({ object, field }) => `${object}.${field}`);

async function anyOf(control: ControlRequests, object: WebhookField["object"]): Promise<string> {
  const key = NODES[object];
  const { data } = (await control.request("GET", `nodes/${key}?limit=1`)) as { data: { id: string }[] };
  const [first] = data;
  if (first === undefined) throw new ControlRefusal(`the world has no ${key}: choose an account, page or catalog with --entity`);
  return first.id;
}

async function ended(control: ControlRequests, id: string): Promise<Delivery> {
  for (let waited = 0; ; waited += LOOK_MS) {
    const delivery = (await control.request("GET", `deliveries/${id}`)) as Delivery;
    const isOver = (delivery.status !== "waiting" && delivery.status !== "sending") || delivery.attempts.length > 0;
    if (isOver || waited >= WAIT_MS_MAX) return delivery;
    await sleep(LOOK_MS);
  }
}

function lineOf({ id, app, callback, status, reason, attempts }: Delivery): string {
  const last = attempts.at(-1);
  const response = last === undefined ? "" : ` ${last.status ?? last.error}${last.latency_ms === undefined ? "" : ` in ${last.latency_ms} ms`}`;
  return `${id} app ${app} ${callback ?? "(no callback)"}: ${status}${reason === undefined ? "" : ` (${reason})`}${response}`;
}

function fail(message: string, code: number): number {
  process.stderr.write(`plaza: ${message}\n`);
  return code;
}
