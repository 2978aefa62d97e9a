/** What documents say of the parts of a report that its intake checks itself (`intake/parse-request.ts`, `intake/parse-events.ts`). */
import { having } from "#graph/schema/asked";
import { ONLY_IN, SHAPE_OF } from "#graph/schema/schema-node";
import {
  DEVICE_ID_CHARACTERS_MAX,
  EVENTS_PER_REQUEST_MAX,
  EXTINFO_VALUES,
  LOG_TIME_MAX,
  PARAMETER_NAME_CHARACTERS_MAX,
  PARAMETERS_MAX,
  VALUE_CHARACTERS_MAX,
} from "./app-events.limits.ts";
import { currencyCode } from "./currencies.contract.ts";
import { userDataKeys } from "./intake/parse-user-data.ts";
import { contentTypes, type ParameterForm, standardParameters } from "./standard-events.contract.ts";

/** D-162: the booleans are for the clients profile. */
export const flagWords = {
  anyOf: [
    { type: "integer", enum: [0, 1] },
    { type: "boolean", [ONLY_IN]: "clients" },
  ],
} as const;

/** An empty text counts as left out. */
export const deviceIdWords = { maxLength: DEVICE_ID_CHARACTERS_MAX } as const;
export const cookieWords = { pattern: "^([0-9A-Za-z]{22}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})?$" } as const;

const text = { type: "string", maxLength: VALUE_CHARACTERS_MAX } as const;
const filled = { ...text, minLength: 1 } as const;

/** Null counts as a parameter that is left out. */
const orLeftOut = (one: object) => ({ anyOf: [one, { type: "null" }] });

const forms: Readonly<Record<ParameterForm, object>> = {
  string: text,
  currency: currencyCode,
  "content type": { type: "string", enum: [...contentTypes] },
  "content ids": { type: "string", description: "one id, or a JSON list of ids as text" },
  "content list": { type: "string", description: "a JSON list of objects with id and quantity, as text" },
  integer: { type: "integer", minimum: 0 },
  boolean: { anyOf: [{ type: "integer", enum: [0, 1] }, { type: "boolean" }, { type: "string", enum: ["0", "1", "true", "false"] }] },
};

/** EVT-1, D-70: 1 to 40 characters. */
export const EVENT_NAME = "^[0-9A-Za-z_][0-9A-Za-z _-]{0,39}$";

const eventProperties = {
  _eventName: { type: "string", pattern: EVENT_NAME, description: "a standard event, or one of your own" },
  event_id: orLeftOut({ ...filled, description: "a second event of this name and id is a duplicate" }),
  _logTime: orLeftOut({ type: "integer", minimum: 0, maximum: LOG_TIME_MAX, description: "Unix seconds; when the request arrived unless given" }),
  _valueToSum: orLeftOut({ type: "number", description: "what is summed; of a standard event with a price its price, in pf_currency" }),
  advertiser_tracking_enabled: { anyOf: [...flagWords.anyOf, { type: "null" }] },
} as const;

const event = {
  type: "object",
  required: ["_eventName"],
  properties: {
    ...eventProperties,
    ...Object.fromEntries(Object.entries(standardParameters).map(([name, form]) => [name, orLeftOut(forms[form])])),
  },
  additionalProperties: {
    anyOf: [text, { type: "number" }, { type: "boolean" }, { type: "null" }, { type: "object" }, { type: "array", items: {} }],
  },
  propertyNames: { maxLength: PARAMETER_NAME_CHARACTERS_MAX },
  maxProperties: Object.keys(eventProperties).length + PARAMETERS_MAX,
  [SHAPE_OF]: "app_event",
};

/** A list; its JSON text serves as well (D-34). */
export const eventsWords = { type: "array", items: event, minItems: 1, maxItems: EVENTS_PER_REQUEST_MAX };

/** UD-3, D-73: nothing of it is refused. */
export const userDataWords = {
  type: "object",
  properties: Object.fromEntries(userDataKeys.map((key) => [key, { type: "string", description: "its SHA-256 in hex; another value is dropped" }])),
};

export const extinfoWords = {
  type: "array",
  prefixItems: [{ type: "string", enum: ["a2", "i2"] }],
  items: { anyOf: [{ ...filled, pattern: "\\S" }, { type: "number" }] },
  minItems: EXTINFO_VALUES,
  maxItems: EXTINFO_VALUES,
};

/** I1-14, I1-17: which parameters a report of each kind needs. */
export const neededByKind = {
  if: { properties: { event: { const: "DEFERRED_APP_LINK" } } },
  else: {
    anyOf: [having("advertiser_id"), having("attribution")],
    if: { properties: { event: { const: "CUSTOM_APP_EVENTS" } } },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
    then: { anyOf: [having("custom_events"), having("custom_events_file")] },
  },
};
