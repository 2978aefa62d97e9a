/** I1 and the reading of attribution, as data. */
import { Type } from "typebox";
import { type Access, readOperation, writeOperation } from "#graph/contract";

/** I1-6, D-70. */
export const eventKinds = ["MOBILE_APP_INSTALL", "CUSTOM_APP_EVENTS", "DEFERRED_APP_LINK"] as const;
export type EventKind = (typeof eventKinds)[number];

const access = {
  surfaces: ["base"],
  versions: "platform",
  scheme: "anywhere",
  policy: "appEvents",
  errorForm: "wrapped",
} as const satisfies Partial<Access>;

/**
 * I1-2, I1-3: discouraged for new integrations, kept for those that exist. `Deprecation` (RFC 9745) gives the day on which
 * the oldest version that is served came out: the interface was discouraged in every one of them.
 */
export const discouraged = {
  deprecation: "@1716249600",
  link: '</openapi.json>; rel="deprecation"; type="application/json"',
} as const;

const kind = Type.Unsafe<EventKind>({ anyOf: eventKinds.map((name) => Type.Literal(name)) });
const flag = Type.Union([Type.Literal(0), Type.Literal(1)]);
/** The room reads it: it is large, and its errors name the event. */
const readHere = { "x-plaza-raw": true };

export const attributionRow = Type.Object({
  event: kind,
  /** Of custom events. */
  event_name: Type.Optional(Type.String()),
  event_time: Type.Integer({ description: "Unix seconds" }),
  ad_id: Type.String(),
  campaign_id: Type.String(),
  click_time: Type.Optional(Type.Integer({ description: "Unix seconds" })),
  is_view_through: Type.Optional(Type.Boolean({ description: "true: an impression, and view_time stands in place of click_time" })),
  view_time: Type.Optional(Type.Integer({ description: "Unix seconds" })),
  cross_campaign: Type.Boolean(),
  cross_device: Type.Boolean(),
});

export const reportAppEvents = writeOperation({
  ...access,
  operation: "reportAppEvents",
  summary: "Reports an install, custom events or a deferred app link of one device. Discouraged for new integrations.",
  clauses: ["I1-4", "I1-5", "I1-6", "I1-7", "I1-9", "I1-13", "I1-15", "I1-17", "I1-18", "I1-19", "I1-23", "I1-24", "I1-27", "AUTH-22", "ERR-34"],
  on: "app",
  method: "POST",
  edge: "activities",
  headers: discouraged,
  tokenless: (app) => app.allow_tokenless_events,
  params: Type.Object({
    event: kind,
    application_tracking_enabled: Type.Optional(flag),
    advertiser_tracking_enabled: Type.Optional(flag),
    advertiser_id: Type.Optional(Type.String({ description: "advertising id of the device" })),
    attribution: Type.Optional(Type.String({ description: "mobile cookie: 22 alphanumerics, or a UUID" })),
    custom_events: Type.Optional(Type.Unknown({ ...readHere, description: "list of events, or its JSON text" })),
    custom_events_file: Type.Optional(Type.Unknown({ ...readHere, description: "the same as a part of multipart/form-data" })),
    ud: Type.Optional(Type.Unknown({ ...readHere, description: "SHA-256 hashed user data by key" })),
    extinfo: Type.Optional(Type.Unknown({ ...readHere, description: "16 values, separated by commas or as a JSON list" })),
    consider_views: Type.Optional(Type.Boolean()),
  }),
  returns: Type.Object({ success: Type.Boolean(), data: Type.Optional(Type.Array(attributionRow)) }),
  errors: ["invalidParameter"],
});

export const readAttribution = readOperation({
  ...access,
  operation: "readAttribution",
  summary: "What of a device's installs and events is due to an ad (D-74).",
  clauses: ["ATTR-1", "ATTR-3", "ATTR-4", "ATTR-5", "ATTR-6", "ATTR-7", "ATTR-8", "LIM-10", "LIM-11"],
  on: "app",
  edge: "app_attribution",
  params: Type.Object({
    advertiser_id: Type.Optional(Type.String()),
    attribution: Type.Optional(Type.String()),
    event: Type.Optional(kind),
    consider_views: Type.Optional(Type.Boolean()),
  }),
  returns: Type.Object({ data: Type.Array(attributionRow) }),
  errors: ["invalidParameter"],
});
