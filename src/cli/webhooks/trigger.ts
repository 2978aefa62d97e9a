/** `plaza trigger`: makes one example event, or the events of a script, and prints the result at each callback. */
import { ConfigProblem } from "#config/config";
import { type ControlRequests, WrongParameter } from "#control/client/requests";
import { anyEntityOf, fieldOf, lineOf, triggered } from "#control/client/triggered";
import { timeText } from "#kernel/clock";
import { InexactNumber, parseExactJson } from "#kernel/json/exact-json";
import { buildRegistry } from "#main";
import type { WebhookField } from "#webhooks/catalogue/field";
import { type Given, withServer } from "../control-client.ts";
import { FAILED, fail, printable, say, WRONG_USE } from "../terminal/output.ts";
import { overrideOf, readScript, type Trigger, withOverrides } from "./script.ts";

const { all } = buildRegistry().webhookFields;

/** Makes the events. Resolves with the exit code, which is 0 if every callback accepted every event. `excess` has the arguments after the event. */
export async function trigger(event: string | undefined, given: Given, excess: readonly string[] = []): Promise<number> {
  if (given.list === true) return listEvents();
  if (event !== undefined && excess.length > 0) return fail(oneEvent([event, ...excess]), WRONG_USE);
  const { script } = given;
  if ((event === undefined) === (script === undefined)) return fail("give either an event or a --script; --list shows the events", WRONG_USE);
  return withServer(given, (control) =>
    script === undefined ? triggerOne(control, triggerOf(event as string, given), given) : runScript(control, String(script), given),
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

/**
 * Makes the message for several arguments, with the command that the user meant: `page custom_labels 2001` is the event page.custom_labels of page
 * 2001.
 */
function oneEvent(words: readonly string[]): string {
  const [object = "", field = ""] = words;
  const isSplit = all.some((one) => one.object === object && one.field === field);
  const [id, ...more] = words.slice(isSplit ? 2 : 1);
  const line = [isSplit ? `${object}.${field}` : object, ...(id === undefined ? [] : ["--entity", id])].join(" ");
  const isMeant = more.length === 0 && (id === undefined || /^\d+$/.test(id));
  return `<event>: give one event, and the id of the event's account or page in --entity: plaza trigger ${isMeant ? line : "page.custom_labels --entity 2001"}`;
}

function triggerOf(event: string, { entity, phone_number, value, override }: Given): Trigger {
  if (value !== undefined && override !== undefined)
    throw new ConfigProblem("--override", "changes the example, and --value replaces the whole example: give only one of the two");
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

async function runScript(control: ControlRequests, file: string, given: Given): Promise<number> {
  // With `--json`, only deliveries are printed.
  const tell = given.json === true ? () => {} : say;
  const steps = await readScript(file);
  // The names of all events are checked before the first event is made.
  for (const step of steps) if ("trigger" in step) eventOf(step.trigger.event);
  for (const step of steps) {
    if ("advance" in step) {
      const { now } = (await control.request("POST", "clock/advance", { seconds: step.advance })) as { now: number };
      tell(`the world's time is ${timeText(now)}`);
    } else if ("world" in step) {
      await control.request("POST", "import", step.world);
      tell(`merged ${Object.keys(step.world).join(", ")} into the world`);
    } else if ((await triggerOne(control, step.trigger, given)) !== 0) return FAILED;
  }
  return 0;
}

async function triggerOne(control: ControlRequests, { event, phone_number, overrides, ...given }: Trigger, { json }: Given): Promise<number> {
  const found = eventOf(event);
  const { object, field } = found;
  const entity = given.entity ?? (await anyEntityOf(control, object));
  const phone = phone_number === undefined ? {} : { phone_number };
  let { value } = given;
  if (overrides.length > 0) {
    const example = await control.request("GET", `webhook-fields/${object}/${field}/example?${new URLSearchParams({ entity, ...phone })}`);
    value = withOverrides(example.value, overrides);
  }
  let hasFailed = false;
  for await (const delivery of triggered(control, found, { entity, ...phone, ...(value === undefined ? {} : { value }) })) {
    hasFailed ||= delivery.status !== "delivered";
    say(json === true ? JSON.stringify(delivery) : printable(lineOf(delivery)));
  }
  return hasFailed ? FAILED : 0;
}

function eventOf(event: string): WebhookField {
  try {
    return fieldOf(all, event);
  } catch (error) {
    throw error instanceof WrongParameter ? new ConfigProblem("<event>", `${error.problem}; --list shows all events`) : error;
  }
}
