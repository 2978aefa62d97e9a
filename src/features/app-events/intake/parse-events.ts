/** Validates the events of a request one by one (EVT clauses, D-70, D-76). If one event is invalid, the whole request is refused. */
import { isNo, isYes, textOf } from "#graph/pipeline/parameters";
import { JsonNumber } from "#graph/pipeline/request";
import type { World } from "#graph/worlds/world";
import { invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import { codePointCount, isStorableText } from "#kernel/text";
import { EVENT_NAME, type EventKind } from "../app-events.contract.ts";
import { LIST_ITEMS_MAX, LOG_TIME_MAX, PARAMETER_NAME_CHARACTERS_MAX, PARAMETERS_MAX, VALUE_CHARACTERS_MAX } from "../app-events.limits.ts";
import { ACTIVATE_APP, contentTypes, currencies, isPriced, type ParameterForm, standardParameters } from "../standard-events.contract.ts";
import { readAmount } from "./amounts.ts";
import type { Device } from "./parse-request.ts";

/** A reported event that was validated. */
export interface ReportedEvent {
  readonly name: string;
  readonly event_id: string | undefined;
  /** The time of the event in Unix seconds: `_logTime`, or the time at which the request arrived if the event has no `_logTime`. */
  readonly time: number;
  /** The event's `_valueToSum` in millionths, or undefined if the event has no value. */
  readonly value: bigint | undefined;
  /** The currency of the value, or an empty text if the event has no currency. */
  readonly currency: string;
  /** The event's parameters as JSON text, as the client sent them. The text is empty if the event has no parameters. */
  readonly parameters: string;
  readonly advertiser_tracking_enabled: 0 | 1;
}

/** A request that reports app events (I1) and was validated. */
export interface Report {
  readonly app: NodeId;
  readonly kind: EventKind;
  readonly device: Device;
  /** The custom events of the request. The list is empty unless `kind` is `CUSTOM_APP_EVENTS`. */
  readonly events: readonly ReportedEvent[];
  /** The name of the parameter that contains the events, for error messages. */
  readonly list: string;
  readonly event_name_limit: number;
  /** The time at which the request arrived, in Unix seconds. */
  readonly received: number;
}

/** The data of a request and its app that are needed to validate an event. */
export interface EventContext {
  /** The name of the parameter that contains the events, for error messages. */
  readonly list: string;
  readonly received: number;
  readonly advertiser_tracking_enabled: 0 | 1;
  readonly automatic_event_logging: boolean;
  /** In the profile `clients`, a flag may be a JSON boolean (D-162), and a list parameter may be a JSON list instead of JSON text (D-293). */
  readonly profile: World["profile"];
}

/** Returns the path of an event or of one of its parameters, for error messages: `custom_events[3]`, or with a key `custom_events[3]._eventName`. */
export const eventPath = (list: string, index: number, key?: string): string =>
  key === undefined ? `${list}[${index}]` : `${list}[${index}].${key}`;

export function readEvents(events: readonly unknown[], context: EventContext): ReportedEvent[] {
  const read: ReportedEvent[] = [];
  for (let index = 0; index < events.length; index++) read.push(readEvent(events[index], index, context));
  return read;
}

/** EVT-1: matches an event name. */
// linear: tidy checks the text of EVENT_NAME in the file that defines it.
const NAME = new RegExp(EVENT_NAME);

/** The properties of an event that are not parameters. Plaza does not count or store these properties as parameters (D-70). */
interface Properties {
  readonly _eventName?: unknown;
  readonly event_id?: unknown;
  readonly _logTime?: unknown;
  readonly _valueToSum?: unknown;
  readonly advertiser_tracking_enabled?: unknown;
}

function readEvent(input: unknown, index: number, context: EventContext): ReportedEvent {
  const { list } = context;
  if (typeof input !== "object" || input === null || Array.isArray(input) || input instanceof JsonNumber)
    throw invalidParameter(eventPath(list, index), "must be an object");
  const { _eventName, event_id, _logTime, _valueToSum, advertiser_tracking_enabled, ...rest } = input as Properties & Record<string, unknown>;
  const refuse = (key: string, problem: string) => invalidParameter(eventPath(list, index, key), problem);

  if (_eventName === undefined || _eventName === null) throw refuse("_eventName", "is required");
  if (typeof _eventName !== "string" || !NAME.test(_eventName))
    throw refuse("_eventName", "must be 1 to 40 letters, digits, _, - or spaces, and begin with a letter, a digit or _");
  // EVT-34, D-72: an app that logs events automatically must not send `ACTIVATE_APP` itself.
  if (_eventName === ACTIVATE_APP && context.automatic_event_logging)
    throw refuse("_eventName", "must not be sent while the app logs events automatically");
  const value = _valueToSum === undefined || _valueToSum === null ? undefined : readValue(_valueToSum);
  if (typeof value === "string") throw refuse("_valueToSum", value);
  if (context.profile === "clients") writeLists(rest);
  const parameters = readParameters(rest, refuse);
  const currency = typeof rest.pf_currency === "string" ? rest.pf_currency : "";
  // EVT-43, D-76: if the value is a price, the event must have a currency.
  if (value !== undefined && currency === "" && isPriced(_eventName))
    throw refuse("pf_currency", `is required because the _valueToSum of ${_eventName} is a price`);
  return {
    name: _eventName,
    event_id: event_id === undefined || event_id === null ? undefined : readEventId(event_id, refuse),
    time: _logTime === undefined || _logTime === null ? context.received : readTime(_logTime, refuse),
    value,
    currency,
    parameters,
    advertiser_tracking_enabled:
      advertiser_tracking_enabled === undefined || advertiser_tracking_enabled === null
        ? context.advertiser_tracking_enabled
        : readFlag(advertiser_tracking_enabled, context, refuse),
  };
}

type Refuse = (key: string, problem: string) => Error;

/**
 * EVT-3, EVT-36: converts `_valueToSum`, which is a number or the text of a decimal, to millionths. For an invalid value, returns a text that says
 * what is wrong.
 */
function readValue(input: unknown): bigint | string {
  if (typeof input === "number") return readAmount(String(input));
  if (input instanceof JsonNumber) return readAmount(input.text);
  return typeof input === "string" ? readAmount(input) : "must be a number";
}

function readEventId(input: unknown, refuse: Refuse): string {
  const text = textOf(input);
  if (typeof text !== "string") throw refuse("event_id", "must be a string");
  const problem = text === "" ? "must not be empty" : textProblem(text);
  if (problem !== undefined) throw refuse("event_id", problem);
  return text;
}

/** EVT-35, D-70: reads `_logTime` in Unix seconds. */
function readTime(input: unknown, refuse: Refuse): number {
  const time = typeof input === "string" && /^\d{1,12}$/.test(input) ? Number(input) : input;
  if (typeof time !== "number" || !Number.isSafeInteger(time)) throw refuse("_logTime", "must be an integer: Unix seconds");
  if (time < 0 || time > LOG_TIME_MAX) throw refuse("_logTime", "must be Unix seconds, of a time from 1970 to the year 9999");
  return time;
}

/** D-76: reads the event's own `advertiser_tracking_enabled`. */
function readFlag(input: unknown, { profile }: EventContext, refuse: Refuse): 0 | 1 {
  if (input === 0 || input === "0" || (profile === "clients" && isNo(input))) return 0;
  if (input === 1 || input === "1" || (profile === "clients" && isYes(input))) return 1;
  throw refuse("advertiser_tracking_enabled", "must be 0 or 1");
}

const lists = Object.entries(standardParameters).flatMap(([name, form]) => (form === "content list" || form === "content ids" ? [name] : []));

/**
 * D-293: replaces each parameter that is a JSON list by the JSON text of the list, as the interface's document requires. Long numbers in a list keep
 * all their digits in the JSON text.
 */
function writeLists(parameters: Record<string, unknown>): void {
  for (const name of lists) if (Array.isArray(parameters[name])) parameters[name] = JSON.stringify(parameters[name]);
}

/**
 * EVT-5, D-76: validates the parameters of an event. The value of a standard parameter must have the form that the table of standard parameters
 * requires. Returns all parameters as JSON text.
 */
function readParameters(input: Record<string, unknown>, refuse: Refuse): string {
  let count = 0;
  let needsCopy = false;
  for (const key in input) {
    const value = input[key];
    // If the value of a parameter is null, Plaza treats the parameter as missing.
    if (value === undefined || value === null) {
      needsCopy = true;
      continue;
    }
    if (++count > PARAMETERS_MAX) throw refuse(key, `is one parameter too many: an event may have at most ${PARAMETERS_MAX}`);
    if (key.length > PARAMETER_NAME_CHARACTERS_MAX || !isStorableText(key))
      throw refuse(key.slice(0, PARAMETER_NAME_CHARACTERS_MAX).toWellFormed().replaceAll("\u0000", ""), "is not a valid parameter name");
    const problem = parameterProblem(key, value);
    if (problem !== undefined) throw refuse(key, problem);
    needsCopy ||= typeof value === "object";
  }
  if (count === 0) return "";
  return JSON.stringify(input, needsCopy ? keepDigits : undefined);
}

/**
 * A replacer for JSON.stringify that leaves out null. This replacer writes a number as a string if a JavaScript number cannot represent the number
 * exactly.
 */
function keepDigits(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const original = this[key];
  return original instanceof JsonNumber ? original.text : (value ?? undefined);
}

/** An error message that says what is wrong with a value, without the parameter's name at its beginning; undefined if the value is valid. */
type Problem = string | undefined;

const forms: ReadonlyMap<string, ParameterForm> = new Map(Object.entries(standardParameters));

/** EVT-37 to EVT-51, D-70, D-76: says what is wrong with the value of a parameter. `value` must not be undefined or null. */
function parameterProblem(name: string, value: unknown): Problem {
  const form = forms.get(name);
  return form === undefined ? valueProblem(value) : formProblems[form](value);
}

const ofText = (problem: (text: string) => Problem) => (value: unknown) => (typeof value === "string" ? problem(value) : "must be a string");

/** D-70: the allowed values of a flag: 1 and 0, JSON booleans, and the words `true` and `false` in upper or lower case. */
const FLAGS: ReadonlySet<unknown> = new Set([1, 0, "1", "0", true, false, "true", "false"]);

const formProblems: Readonly<Record<ParameterForm, (value: unknown) => Problem>> = {
  string: ofText(textProblem),
  currency: ofText((text) => (currencies.has(text) ? undefined : "must be an ISO 4217 code such as EUR")),
  "content type": ofText((text) => ((contentTypes as readonly string[]).includes(text) ? undefined : `must be one of ${contentTypes.join(", ")}`)),
  "content ids": ofText(contentIdsProblem),
  "content list": ofText(contentListProblem),
  integer: integerProblem,
  // EVT-48, EVT-51: a standard parameter whose form is `boolean` is a flag.
  boolean: (value) => (FLAGS.has(typeof value === "string" ? value.toLowerCase() : value) ? undefined : "must be 1 or 0"),
};

function textProblem(text: string): Problem {
  // A text never has more code points than UTF-16 units, so the code points of most texts need not be counted.
  if (text.length > VALUE_CHARACTERS_MAX && codePointCount(text) > VALUE_CHARACTERS_MAX)
    return `must have at most ${VALUE_CHARACTERS_MAX} characters`;
  return storableProblem(text);
}

const storableProblem = (text: string): Problem => (isStorableText(text) ? undefined : "contains U+0000 or a lone surrogate");

function integerProblem(value: unknown): Problem {
  const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && number < 0) return "must not be negative";
  return typeof number === "number" && Number.isSafeInteger(number) ? undefined : "must be an integer";
}

/** EVT-38: `pf_content_id` has one id, or several ids as a JSON list of strings. */
function contentIdsProblem(text: string): Problem {
  if (!text.trimStart().startsWith("[")) return textProblem(text);
  const list = parsed(text);
  if (!Array.isArray(list)) return "must be one id or a JSON list of strings";
  return listProblem(text, list, (id) => problemAt("", idProblem(id)));
}

/** EVT-39, EVT-40: a content list is a list of objects with `id`, `quantity` and optional prices. */
function contentListProblem(text: string): Problem {
  const list = parsed(text);
  return Array.isArray(list) ? listProblem(text, list, contentProblem) : "must be a JSON list of objects";
}

/**
 * D-70: the number of items in a list is limited, and not the length of the list's text, so the text may be longer than other values. `itemProblem`
 * says what is wrong with an item.
 */
function listProblem(text: string, list: readonly unknown[], itemProblem: (item: unknown) => Problem): Problem {
  if (list.length > LIST_ITEMS_MAX) return `must have at most ${LIST_ITEMS_MAX} items`;
  for (const [index, item] of list.entries()) {
    const problem = itemProblem(item);
    if (problem !== undefined) return `is wrong: [${index}]${problem}`;
  }
  return storableProblem(text);
}

function contentProblem(item: unknown): Problem {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return problemAt("", "must be an object");
  const { id, quantity, ...others } = item as Record<string, unknown>;
  const problem = problemAt(".id", typeof id === "number" ? undefined : idProblem(id)) ?? problemAt(".quantity", quantityProblem(quantity));
  if (problem !== undefined) return problem;
  for (const [key, value] of Object.entries(others)) {
    const ofKey = textProblem(key);
    if (ofKey !== undefined) return problemAt("", `has a key that ${ofKey}`);
    const ofValue = problemAt(`.${key}`, PRICES.has(key) ? priceProblem(value) : valueProblem(value));
    if (ofValue !== undefined) return ofValue;
  }
  return undefined;
}

const problemAt = (where: string, problem: Problem): Problem => (problem === undefined ? undefined : `${where} ${problem}`);

function idProblem(id: unknown): Problem {
  if (id === undefined || id === null) return "is required";
  if (typeof id !== "string") return "must be a string";
  return id === "" ? "must not be empty" : textProblem(id);
}

const quantityProblem = (quantity: unknown): Problem => (quantity === undefined || quantity === null ? "is required" : integerProblem(quantity));

function priceProblem(price: unknown): Problem {
  const amount = readAmount(String(price));
  return typeof amount === "string" ? amount : undefined;
}

/**
 * The keys with prices in an entry of a content list. The interface's document mentions "prices" without naming the keys; client libraries send
 * `price` and `item_price`.
 */
const PRICES: ReadonlySet<string> = new Set(["price", "item_price"]);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * D-76: says what is wrong with the value of a parameter that is not a standard parameter. The value of such a parameter may be text, a number, a
 * flag or other JSON, up to the greatest length of a value.
 */
function valueProblem(value: unknown): Problem {
  if (typeof value === "string") return textProblem(value);
  if (typeof value !== "object") return undefined;
  if (value instanceof JsonNumber) return textProblem(value.text);
  const text = JSON.stringify(value);
  // JSON.stringify writes U+0000 and lone surrogates as escape sequences, so this check searches the JSON text for these sequences.
  return textProblem(text) ?? (/\\u(?:0000|d[89a-f])/i.test(text) ? "contains U+0000 or a lone surrogate" : undefined);
}
