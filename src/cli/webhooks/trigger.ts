/** `plaza trigger`: makes one example event, or the events of a script, and prints the result at each callback. */
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigProblem } from "#config/config";
import { InexactNumber, parseExactJson } from "#kernel/json/exact-json";
import { suggestion } from "#kernel/suggestion";
import { buildRegistry } from "#main";
import type { WebhookField } from "#webhooks/catalogue/field";
import { ControlRefusal, type ControlRequests, type Given, withServer } from "../control-client.ts";
import { FAILED, fail, say, timeText, WRONG_USE } from "../terminal/output.ts";
import { type Delivery, lineOf } from "./deliveries.ts";
import { overrideOf, readScript, type Trigger, withOverrides } from "./script.ts";
import { nodesOf } from "./subscribing.ts";

/** The time for which results are awaited: a callback has 15 s to respond (D-62). */
const WAIT_MS_MAX = 17_000;
const LOOK_MS = 50;

const { all } = buildRegistry().webhookFields;

/** Makes the events. Resolves with the exit code: 0 if every callback accepted every event. */
export async function trigger(event: string | undefined, given: Given): Promise<number> {
  if (given.list === true) return listEvents();
  const { script } = given;
  if ((event === undefined) === (script === undefined)) return fail("name either an event or a --script; --list shows the events", WRONG_USE);
  return withServer(given, (control) =>
    script === undefined ? triggerOne(control, triggerOf(event as string, given)) : runScript(control, String(script)),
  );
}

function listEvents(): number {
  const names = all.map(({ object, field }) => `${object}.${field}`);
  const width = Math.max(...names.map((name) => name.length));
  all.forEach(({ summary }, at) => {
    say(`${(names[at] as string).padEnd(width)}  ${summary}`);
  });
  return 0;
}

function triggerOf(event: string, { entity, phone_number, value, override }: Given): Trigger {
  if (value !== undefined && override !== undefined)
    throw new ConfigProblem("--override", "changes the example, and --value replaces it: give one of them");
  return {
    event,
    entity: entity as string | undefined,
    phone_number: phone_number as string | undefined,
    value: value === undefined ? undefined : jsonOf(String(value)),
    overrides: ((override ?? []) as readonly string[]).map(overrideOf),
  };
}

function jsonOf(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactNumber) throw new ConfigProblem("--value", error.message);
    throw new ConfigProblem("--value", `is not JSON: ${error instanceof Error ? error.message : error}`);
  }
}

async function runScript(control: ControlRequests, file: string): Promise<number> {
  const steps = await readScript(file);
  // The names of all events are checked before the first event is made.
  for (const step of steps) if ("trigger" in step) fieldOf(step.trigger.event);
  for (const step of steps) {
    if ("advance" in step) {
      const { now } = (await control.request("POST", "clock/advance", { seconds: step.advance })) as { now: number };
      say(`the world's time is ${timeText(now)}`);
    } else if ("world" in step) {
      await control.request("POST", "import", step.world);
      say(`merged ${Object.keys(step.world).join(", ")} into the world`);
    } else if ((await triggerOne(control, step.trigger)) !== 0) return FAILED;
  }
  return 0;
}

async function triggerOne(control: ControlRequests, { event, phone_number, overrides, ...given }: Trigger): Promise<number> {
  const { object, field } = fieldOf(event);
  const entity = given.entity ?? (await anyOf(control, object));
  const phone = phone_number === undefined ? {} : { phone_number };
  let { value } = given;
  if (overrides.length > 0) {
    const example = await control.request("GET", `webhook-fields/${object}/${field}/example?${new URLSearchParams({ entity, ...phone })}`);
    value = withOverrides(example.value, overrides);
  }
  const body = { object, field, entity, ...phone, ...(value === undefined ? {} : { value }) };
  const { deliveries } = (await control.request("POST", "deliveries/trigger", body)) as { deliveries: string[] };
  let hasFailed = false;
  for (const id of deliveries) {
    const delivery = await ended(control, id);
    hasFailed ||= delivery.status !== "delivered";
    say(lineOf(delivery));
  }
  return hasFailed ? FAILED : 0;
}

/** Finds a field by `object.field`, or by its name alone, which means the first object that has it. Throws `ConfigProblem`. */
function fieldOf(event: string): WebhookField {
  const found = all.find(({ object, field }) => event === `${object}.${field}`) ?? all.find(({ field }) => event === field);
  if (found !== undefined) return found;
  const names = [...new Set(all.flatMap(({ object, field }) => [field, `${object}.${field}`]))];
  throw new ConfigProblem("<event>", `there is no event ${event}${suggestion(event, names)}; --list shows them`);
}

async function anyOf(control: ControlRequests, object: WebhookField["object"]): Promise<string> {
  const key = nodesOf[object];
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
