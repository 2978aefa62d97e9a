/** Events as a request reports them, checked one by one (EVT clauses, D-70, D-76). The first that is wrong refuses the request. */
import { JsonNumber } from "#graph/pipeline/request";
import { invalidParameter } from "#kernel/errors";
import { isStorableText } from "#kernel/text";
import { eventPath } from "../app-events.errors.ts";
import { LOG_TIME_MAX, PARAMETER_NAME_CHARACTERS_MAX, PARAMETERS_MAX } from "../app-events.limits.ts";
import { keyFingerprint } from "../dedup-index/fingerprints.ts";
import { ACTIVATE_APP, isPriced } from "../standard-events.contract.ts";
import { readAmount } from "./amounts.ts";
import { parameterProblem, textProblem } from "./parse-parameters.ts";

/** One event, checked. */
export interface ReportedEvent {
  readonly name: string;
  readonly event_id: string | undefined;
  /** Of its key; 0 without an `event_id`. */
  readonly fingerprint: number;
  /** Unix seconds; when the request arrived, where the event does not say. */
  readonly time: number;
  /** Millionths. */
  readonly value: bigint | undefined;
  /** Empty where none is given. */
  readonly currency: string;
  /** JSON of its parameters as sent; empty where there are none. */
  readonly parameters: string;
  readonly advertiser_tracking_enabled: 0 | 1;
}

/** What of the request and the app an event's check depends on. */
export interface EventSurroundings {
  /** The parameter that holds the list, for errors. */
  readonly list: string;
  readonly received: number;
  readonly advertiser_tracking_enabled: 0 | 1;
  readonly automatic_event_logging: boolean;
}

export function readEvents(events: readonly unknown[], around: EventSurroundings): ReportedEvent[] {
  const read: ReportedEvent[] = [];
  for (let index = 0; index < events.length; index++) read.push(readEvent(events[index], index, around));
  return read;
}

/** EVT-1, D-70: 1 to 40 characters. */
const NAME = /^[0-9A-Za-z_][0-9A-Za-z _-]{0,39}$/;

/** What is no parameter: it counts neither against their number nor is it kept among them. */
interface Given {
  readonly _eventName?: unknown;
  readonly event_id?: unknown;
  readonly _logTime?: unknown;
  readonly _valueToSum?: unknown;
  readonly advertiser_tracking_enabled?: unknown;
}

function readEvent(given: unknown, index: number, around: EventSurroundings): ReportedEvent {
  const { list } = around;
  if (typeof given !== "object" || given === null || Array.isArray(given) || given instanceof JsonNumber)
    throw invalidParameter(eventPath(list, index), "must be an object");
  const { _eventName, event_id, _logTime, _valueToSum, advertiser_tracking_enabled, ...rest } = given as Given & Record<string, unknown>;
  const refuse = (key: string, problem: string) => invalidParameter(eventPath(list, index, key), problem);

  if (_eventName === undefined || _eventName === null) throw refuse("_eventName", "is required");
  if (typeof _eventName !== "string" || !NAME.test(_eventName))
    throw refuse("_eventName", "must be 1 to 40 letters, digits, _, - or spaces, and begin with a letter, a digit or _");
  // EVT-34, D-72.
  if (_eventName === ACTIVATE_APP && around.automatic_event_logging)
    throw refuse("_eventName", "must not be sent while the app logs events automatically");
  const value = _valueToSum === undefined || _valueToSum === null ? undefined : readValue(_valueToSum);
  if (typeof value === "string") throw refuse("_valueToSum", value);
  const parameters = readParameters(rest, refuse);
  const currency = typeof rest.pf_currency === "string" ? rest.pf_currency : "";
  // EVT-43, D-76.
  if (value !== undefined && currency === "" && isPriced(_eventName))
    throw refuse("pf_currency", `is required: the _valueToSum of ${_eventName} is a price`);
  const id = event_id === undefined || event_id === null ? undefined : readEventId(event_id, refuse);
  return {
    name: _eventName,
    event_id: id,
    fingerprint: id === undefined ? 0 : keyFingerprint(_eventName, id),
    time: _logTime === undefined || _logTime === null ? around.received : readTime(_logTime, refuse),
    value,
    currency,
    parameters,
    advertiser_tracking_enabled:
      advertiser_tracking_enabled === undefined || advertiser_tracking_enabled === null
        ? around.advertiser_tracking_enabled
        : readFlag(advertiser_tracking_enabled, refuse),
  };
}

type Refuse = (key: string, problem: string) => Error;

/** EVT-3, EVT-36: a number, or a decimal as text; the problem where it is neither. */
function readValue(given: unknown): bigint | string {
  if (typeof given === "number") return readAmount(String(given));
  if (given instanceof JsonNumber) return readAmount(given.text);
  return typeof given === "string" ? readAmount(given) : "must be a number";
}

function readEventId(given: unknown, refuse: Refuse): string {
  const text = given instanceof JsonNumber ? given.text : typeof given === "number" ? String(given) : given;
  if (typeof text !== "string") throw refuse("event_id", "must be a string");
  const problem = text === "" ? "must not be empty" : textProblem(text);
  if (problem !== undefined) throw refuse("event_id", problem);
  return text;
}

/** EVT-35. */
function readTime(given: unknown, refuse: Refuse): number {
  const time = typeof given === "string" && /^\d{1,12}$/.test(given) ? Number(given) : given;
  if (typeof time !== "number" || !Number.isSafeInteger(time)) throw refuse("_logTime", "must be an integer: Unix seconds");
  if (time < 0 || time > LOG_TIME_MAX) throw refuse("_logTime", "must be Unix seconds");
  return time;
}

/** D-76. */
function readFlag(given: unknown, refuse: Refuse): 0 | 1 {
  if (given === 0 || given === "0") return 0;
  if (given === 1 || given === "1") return 1;
  throw refuse("advertiser_tracking_enabled", "must be 0 or 1");
}

/** EVT-5, D-76: standard parameters by their table, others kept as they are. Answers their JSON. */
function readParameters(given: Record<string, unknown>, refuse: Refuse): string {
  let count = 0;
  let needsCopy = false;
  for (const key in given) {
    const value = given[key];
    // Written as null, a parameter is not given.
    if (value === undefined || value === null) {
      needsCopy = true;
      continue;
    }
    if (++count > PARAMETERS_MAX) throw refuse(key, `is one parameter more than the ${PARAMETERS_MAX} that an event may have`);
    if (key.length > PARAMETER_NAME_CHARACTERS_MAX || !isStorableText(key))
      throw refuse(key.slice(0, PARAMETER_NAME_CHARACTERS_MAX).toWellFormed().replaceAll("\u0000", ""), "is no parameter name");
    const problem = parameterProblem(key, value);
    if (problem !== undefined) throw refuse(key, problem);
    needsCopy ||= typeof value === "object";
  }
  if (count === 0) return "";
  return JSON.stringify(given, needsCopy ? keepDigits : undefined);
}

/** Leaves out what is null, and writes numbers that a binary float would round as text. */
function keepDigits(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const original = this[key];
  return original instanceof JsonNumber ? original.text : (value ?? undefined);
}
