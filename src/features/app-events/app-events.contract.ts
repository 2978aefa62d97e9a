/** The contracts of two operations: reporting app events (I1), and reading the events that are attributed to ads (ATTR). */
import { type Static, Type } from "typebox";
import { appTokenAlone } from "#auth/policy";
import { type Access, type Field, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import { having, ONLY_IN, PROBLEM, SHAPE_OF } from "#graph/schema/schema-node";
import {
  DEVICE_ID_CHARACTERS_MAX,
  EVENTS_PER_REQUEST_MAX,
  EXTINFO_VALUES,
  LOG_TIME_MAX,
  PARAMETER_NAME_CHARACTERS_MAX,
  PARAMETERS_MAX,
  VALUE_CHARACTERS_MAX,
} from "./app-events.limits.ts";
import { userDataKeys } from "./intake/parse-user-data.ts";
import { contentTypes, currencyCode, type ParameterForm, standardEvents, standardParameters } from "./standard-events.contract.ts";

/** AUTH-22, D-13: an app may report its events (I1) and read their attribution only with its own app token. */
export const appEventsPolicy = appTokenAlone("appEvents");

/** I1-6, D-70: the kinds of events that a request can report. */
export const eventKinds = ["MOBILE_APP_INSTALL", "CUSTOM_APP_EVENTS", "DEFERRED_APP_LINK"] as const;
export type EventKind = (typeof eventKinds)[number];

/** D-162: a flag is 0 or 1. In the profile `clients`, a flag may also be a JSON boolean. */
const flagWords = {
  anyOf: [
    { type: "integer", enum: [0, 1] },
    { type: "boolean", [ONLY_IN]: "clients" },
  ],
} as const;

/** If a device id is empty, Plaza treats the device id as missing. */
const deviceIdWords = { maxLength: DEVICE_ID_CHARACTERS_MAX } as const;
/**
 * ATTR-9, ATTR-10, LIM-13, I1-16: the parameter `attribution` is the cookie of the device: 22 alphanumeric characters or a UUID. If the cookie is
 * empty, Plaza treats the cookie as missing.
 */
const cookieWords = {
  pattern: "^([0-9A-Za-z]{22}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})?$",
  [PROBLEM]: "must be 22 alphanumeric characters or a UUID",
} as const;

const text = { type: "string", maxLength: VALUE_CHARACTERS_MAX } as const;
const filled = { ...text, minLength: 1 } as const;

/** If a parameter of an event is null, Plaza treats the parameter as missing. */
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

/** EVT-1, D-70: an event name has 1 to 40 characters. */
export const EVENT_NAME = "^[0-9A-Za-z_][0-9A-Za-z _-]{0,39}$";

const eventProperties = {
  _eventName: { type: "string", pattern: EVENT_NAME, description: "the name of a standard event, or of an event of your own" },
  event_id: orLeftOut({ ...filled, description: "an id for deduplication: a later event with the same name and event_id is dropped" }),
  _logTime: orLeftOut({ type: "integer", minimum: 0, maximum: LOG_TIME_MAX, description: "Unix seconds; the time of arrival by default" }),
  _valueToSum: orLeftOut({
    type: "number",
    description: "a number that Plaza sums; for a standard event with a price, the price in the currency pf_currency",
  }),
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

/** The schema of the parameter `custom_events`. A client sends the events as a list, or as the JSON text of the list (D-34). */
const eventsWords = { type: "array", items: event, minItems: 1, maxItems: EVENTS_PER_REQUEST_MAX };

/** UD-3, D-73: if a value of `ud` is not a hash or has an unknown key, Plaza drops the value and accepts the request. */
const userDataWords = {
  type: "object",
  properties: Object.fromEntries(userDataKeys.map((key) => [key, { type: "string", description: "SHA-256 in hex; any other value is dropped" }])),
};

const extinfoWords = {
  type: "array",
  prefixItems: [{ type: "string", enum: ["a2", "i2"] }],
  items: { anyOf: [{ ...filled, pattern: "\\S" }, { type: "number" }] },
  minItems: EXTINFO_VALUES,
  maxItems: EXTINFO_VALUES,
};

/** I1-14, I1-17: the value of `event` decides which other parameters a request must have. */
const neededByKind = {
  if: { properties: { event: { const: "DEFERRED_APP_LINK" } } },
  else: {
    anyOf: [having("advertiser_id"), having("attribution")],
    if: { properties: { event: { const: "CUSTOM_APP_EVENTS" } } },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
    then: { anyOf: [having("custom_events"), having("custom_events_file")] },
  },
};

const access = {
  surfaces: ["base"],
  versions: "platform",
  scheme: "anywhere",
  policy: appEventsPolicy,
  errorForm: "wrapped",
} as const satisfies Partial<Access>;

/**
 * I1-2, I1-3: new integrations should not report app events; existing integrations still can. Every served version of the interface discourages
 * reporting, so the header `Deprecation` (RFC 9745) has the release date of the oldest served version.
 */
const discouraged = {
  deprecation: "@1716249600",
  link: '</openapi.json>; rel="deprecation"; type="application/json"',
} as const;

const kind = Type.Unsafe<EventKind>({ anyOf: eventKinds.map((name) => Type.Literal(name)) });
/** D-70: a request can report a deferred app link only in the profile `clients`. */
const wantedKind = (description: string) =>
  Type.Unsafe<EventKind>({
    anyOf: eventKinds.map((name) => Type.Literal(name, name === "DEFERRED_APP_LINK" ? { [ONLY_IN]: "clients" } : {})),
    description,
  });
const flag = (description: string) => Type.Optional(Type.Unsafe<0 | 1 | boolean>({ ...flagWords, description }));
/**
 * Makes the contract of a parameter whose value the code in `intake/` parses. `words` is the parameter's JSON Schema, whose limits the code in
 * `intake/` enforces. The general parser of parameters is not used, because the parameters of reported events have special rules: an error names the
 * event and the event's parameter, invalid values of `ud` are dropped and counted, `extinfo` has three notations, `_valueToSum` must not lose digits,
 * and the view of test events shows the events of a refused request.
 */
const readByIntake = (words: object, description: string) => Type.Optional(Type.Unsafe<unknown>({ ...words, description, "x-plaza-raw": true }));

const unixTime = (description = "Unix seconds") => Type.Integer({ description });

const attributionRow = Type.Object({
  event: kind,
  /** The name of a custom event. Installs and links have no `event_name`. */
  event_name: Type.Optional(Type.String()),
  event_time: unixTime(),
  ad_id: Type.String(),
  campaign_id: Type.String(),
  click_time: Type.Optional(unixTime()),
  is_view_through: Type.Optional(
    Type.Boolean({ description: "whether the event is attributed to an impression; such an event has view_time instead of click_time" }),
  ),
  view_time: Type.Optional(unixTime()),
  cross_campaign: Type.Boolean(),
  cross_device: Type.Boolean(),
});
export type AttributionRow = Static<typeof attributionRow>;

/** A row of attributed events, as the handlers make it. In such a row a flag is 1 or 0, and a field without a value is null. */
export type AttributedRow = {
  readonly event: EventKind;
  readonly event_name: string | null;
  readonly event_time: number;
  readonly ad_id: string;
  readonly campaign_id: string;
  readonly click_time: number | null;
  readonly is_view_through: 1 | null;
  readonly view_time: number | null;
  readonly cross_campaign: 0 | 1;
  readonly cross_device: 0 | 1;
};

const attributionFields = Object.keys(attributionRow.properties) as (keyof AttributionRow)[];
const flags: ReadonlySet<string> = new Set(["is_view_through", "cross_campaign", "cross_device"]);

const attributionValue = (row: AttributedRow, name: keyof AttributionRow): unknown =>
  flags.has(name) && row[name] !== null ? row[name] === 1 : (row[name] ?? undefined);

/**
 * Converts an attribution row to the JSON object that the response to reported events (I1) contains. JSON leaves out the fields that are undefined.
 */
export const responseRow = (row: AttributedRow): AttributionRow =>
  Object.fromEntries(attributionFields.map((name) => [name, attributionValue(row, name)])) as unknown as AttributionRow;

const attributionField = (name: keyof AttributionRow): Field<AttributedRow> => ({
  schema: attributionRow.properties[name],
  policy: appEventsPolicy,
  of: (row) => attributionValue(row, name),
});

const attributionItem: FieldSet<AttributedRow> = {
  fields: Object.fromEntries(attributionFields.map((name) => [name, attributionField(name)])),
  defaults: attributionFields,
  required: ["event", "event_time", "ad_id", "campaign_id", "cross_campaign", "cross_device"],
};

export const reportAppEvents = writeOperation({
  ...access,
  operation: "reportAppEvents",
  summary: "Reports an install, custom events or a deferred app link of one device. Discouraged for new integrations.",
  clauses: [
    ...["I1-4", "I1-5", "I1-6", "I1-7", "I1-8", "I1-9", "I1-10", "I1-11", "I1-12", "I1-13", "I1-14", "I1-15", "I1-16", "I1-17", "I1-18", "I1-19"],
    ...["I1-20", "I1-21", "I1-22", "I1-23", "I1-24", "I1-25", "I1-26", "I1-27", "I1-30", "I1-31", "I1-32", "AUTH-22", "ERR-34"],
    ...["EVT-1", "EVT-2", "EVT-3", "EVT-4", "EVT-5", "EVT-6", "EVT-8", "EVT-34", "EVT-35", "EVT-36", "EVT-38", "EVT-40", "EVT-43"],
    ...Object.values(standardEvents).map(({ clause }) => clause),
    ...["UD-1", "UD-2", "UD-3", "ATTR-1", "ATTR-9", "ATTR-10", "LIM-1", "LIM-2", "LIM-3", "LIM-13"],
  ],
  decisions: ["D-13", "D-70", "D-71", "D-72", "D-73", "D-75", "D-76", "D-162", "D-290", "D-293"],
  on: "app",
  method: "POST",
  edge: "activities",
  headers: discouraged,
  requestHeaders: {
    "X-Forwarded-For": {
      description: "The device's address, followed by the addresses of proxies, separated by commas.",
      schema: Type.String(),
      isRequired: true,
    },
  },
  tokenless: (app) => app.allow_tokenless_events,
  params: Type.Object(
    {
      event: wantedKind("the kind of event that the request reports"),
      application_tracking_enabled: flag(
        "0: the person switched tracking off in the app, and Plaza stores neither the IP address nor user data (default: 1)",
      ),
      advertiser_tracking_enabled: flag("1: the device allows ad tracking; 0: the device forbids it (default: 1)"),
      advertiser_id: Type.Optional(Type.String({ ...deviceIdWords, description: "advertising id of the device" })),
      attribution: Type.Optional(Type.String({ ...cookieWords, description: "mobile cookie: 22 alphanumerics, or a UUID" })),
      custom_events: readByIntake(eventsWords, "list of events, or its JSON text"),
      custom_events_file: readByIntake({ format: "binary" }, "the list of custom events as a file of multipart/form-data"),
      ud: readByIntake(userDataWords, "SHA-256 hashed user data by key, or its JSON text"),
      extinfo: readByIntake(extinfoWords, "16 values, as a list, as JSON text or separated by commas; the first value is a2 or i2"),
      consider_views: Type.Optional(Type.Boolean({ description: "whether the response attributes installs to impressions as well as to clicks" })),
    },
    neededByKind,
  ),
  returns: Type.Object({ success: Type.Boolean(), data: Type.Optional(Type.Array(attributionRow)) }),
  errors: ["invalidParameter"],
});

export const listAttribution = listOperation({
  ...access,
  operation: "listAttribution",
  summary: "Lists the installs and events of a device that are attributed to an ad, newest first (D-74).",
  clauses: ["ATTR-1", "ATTR-3", "ATTR-4", "ATTR-5", "ATTR-6", "ATTR-7", "ATTR-8", "LIM-10", "LIM-11"],
  decisions: ["D-74", "D-76", "D-290"],
  on: "app",
  edge: "app_attribution",
  params: Type.Object({
    advertiser_id: Type.Optional(
      Type.String({ ...deviceIdWords, description: "advertising id of the device; either advertiser_id or attribution is required" }),
    ),
    attribution: Type.Optional(Type.String({ ...cookieWords, description: "mobile cookie of the device: 22 alphanumerics, or a UUID" })),
    event: Type.Optional(wantedKind("the kind of the events in the list (default: all kinds)")),
    consider_views: Type.Optional(Type.Boolean({ description: "whether installs are attributed to impressions as well as to clicks" })),
  }),
  items: attributionItem,
  keyColumns: 2,
  errors: ["invalidParameter"],
});
