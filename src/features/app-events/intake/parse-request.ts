/**
 * Reads the parameters of a request that apply to all its events (I1): the device, the flags and the user data. This file also finds the list of
 * events in a request.
 */
import ipaddr from "ipaddr.js";
import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { textOf } from "#graph/pipeline/parameters";
import { JsonNumber, type Parameters } from "#graph/pipeline/request";
import { parseJson } from "#graph/response/json";
import type { World } from "#graph/worlds/world";
import { invalidParameter } from "#kernel/errors";
import { codePointCount, isStorableText } from "#kernel/text";
import type { reportAppEvents } from "../app-events.contract.ts";
import { EXTINFO_VALUES, VALUE_CHARACTERS_MAX } from "../app-events.limits.ts";
import { personsOf, readUserData, type UserData } from "./parse-user-data.ts";

export type ReportRequest = OperationRequest<Static<typeof reportAppEvents.params>>;

/** The device whose events a request reports (I1). */
export interface Device {
  readonly advertiser_id: string | undefined;
  readonly attribution: string | undefined;
  /** The IP address of the device, or undefined if a client library did not send the address (D-75). */
  readonly ip: string | undefined;
  readonly extinfo: readonly string[] | undefined;
  readonly application_tracking_enabled: 0 | 1;
  readonly advertiser_tracking_enabled: 0 | 1;
  readonly user_data: UserData;
}

export function readDevice({ params, graphRequest, world }: ReportRequest): Device {
  const extinfo = readExtinfo(params.extinfo);
  const device: Device = {
    advertiser_id: readDeviceId(params.advertiser_id),
    attribution: readCookie(params.attribution, extinfo?.[0]),
    ip: readForwardedFor(graphRequest.header("x-forwarded-for"), world),
    extinfo,
    application_tracking_enabled: flagOf(params.application_tracking_enabled),
    advertiser_tracking_enabled: flagOf(params.advertiser_tracking_enabled),
    user_data: readUserData(objectOf(params.ud)),
  };
  // I1-14: a request with custom events must have a device id. A request that reports an install must have a device id, too, because an install
  // counts once for each device (I1-30).
  if (params.event !== "DEFERRED_APP_LINK" && device.advertiser_id === undefined && device.attribution === undefined)
    throw invalidParameter("advertiser_id", "is required if attribution is missing");
  return device;
}

/** I1-25, I1-26, D-75: returns the IP address of the device: the first address in the header, because proxies append their own addresses. */
function readForwardedFor(header: string | undefined, { profile }: World): string | undefined {
  const [first = ""] = (header ?? "").split(",");
  const address = first.trim();
  if (address === "" && profile === "clients") return undefined;
  if (address === "") throw invalidParameter("X-Forwarded-For", "is required: send the IP address of the device");
  if (!IPV4.test(address) && !ipaddr.IPv6.isValid(address)) throw invalidParameter("X-Forwarded-For", "must begin with an IPv4 or IPv6 address");
  return address;
}

/**
 * Matches an IPv4 address: four numbers up to 255 without leading zeros. Leading zeros are not allowed, because some parsers read a number with a
 * leading zero as octal. The library ipaddr.js would also accept `1` and `0x7f.1`.
 */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/**
 * Reads a device id. Plaza treats an empty device id as missing, because forms send blank fields. Plaza also treats a device id that consists of
 * zeros as missing (D-290).
 */
const readDeviceId = (value: string | undefined): string | undefined => (value === undefined || isNoId(value) ? undefined : value);

/** I1-7, I1-9, I1-11, D-76: if a flag is missing, its value is 1. */
const flagOf = (flag: 0 | 1 | boolean = 1): 0 | 1 => (flag === 0 || flag === false ? 0 : 1);

const COOKIE_A = /^[0-9A-Za-z]{22}$/;

/**
 * ATTR-9, ATTR-10: reads the cookie. The platform in `extinfo` decides whether the cookie must have 22 characters or be a UUID. Without `extinfo`,
 * both kinds of cookies are accepted.
 */
function readCookie(value: string | undefined, platform: string | undefined): string | undefined {
  if (value === undefined || isNoId(value)) return undefined;
  if (platform === "a2" && !COOKIE_A.test(value)) throw invalidParameter("attribution", "must be 22 alphanumeric characters for platform a2");
  if (platform === "i2" && !isUuid(value)) throw invalidParameter("attribution", "must be a UUID for platform i2");
  return value;
}

/** I1-19 to I1-22, D-70: reads `extinfo`, which is a list, the JSON text of a list, or values separated by commas. */
function readExtinfo(input: unknown): readonly string[] | undefined {
  if (input === undefined) return undefined;
  const values = typeof input === "string" ? (input.trimStart().startsWith("[") ? parseJson(input, "Param extinfo") : input.split(",")) : input;
  if (!Array.isArray(values)) throw invalidParameter("extinfo", "must be values separated by commas");
  if (values.length !== EXTINFO_VALUES) throw invalidParameter("extinfo", `must contain ${EXTINFO_VALUES} values, but contains ${values.length}`);
  const texts = values.map((value, index) => extinfoText(value, index));
  if (texts[0] !== "a2" && texts[0] !== "i2") throw invalidParameter("extinfo[0]", "must be a2 or i2");
  return texts;
}

function extinfoText(value: unknown, index: number): string {
  const text = textOf(value);
  if (typeof text !== "string" || text.trim() === "") throw invalidParameter(`extinfo[${index}]`, "must not be empty");
  if (!isStorableText(text)) throw invalidParameter(`extinfo[${index}]`, "contains U+0000 or a lone surrogate");
  if (codePointCount(text) > VALUE_CHARACTERS_MAX)
    throw invalidParameter(`extinfo[${index}]`, `must have at most ${VALUE_CHARACTERS_MAX} characters`);
  return text.trim();
}

function objectOf(input: unknown): Readonly<Record<string, unknown>> | undefined {
  if (input === undefined || input === null || input === "") return undefined;
  const value = typeof input === "string" && input.trimStart().startsWith("{") ? parseJson(input, "Param ud") : input;
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof JsonNumber)
    throw invalidParameter("ud", "must map keys to hashed values, as in ud[em]");
  return value as Readonly<Record<string, unknown>>;
}

export interface EventList {
  /** The name of the parameter that contains the list of events, for error messages. */
  readonly parameter: "custom_events" | "custom_events_file";
  readonly events: readonly unknown[];
}

/**
 * I1-17: finds the list of events of a request. A client sends a JSON list, the JSON text of a list, or a file of multipart/form-data with that text.
 */
export function readEventList({ params, graphRequest }: Pick<OperationRequest<Parameters>, "params" | "graphRequest">): EventList {
  const parameter = params.custom_events === undefined ? "custom_events_file" : "custom_events";
  const file = graphRequest.files.get("custom_events_file");
  const input = params.custom_events ?? (file === undefined ? params.custom_events_file : fileText(file.bytes));
  if (input === undefined || input === "") throw invalidParameter("custom_events", "is required");
  const events = typeof input === "string" ? parseJson(input, `Param ${parameter}`) : input;
  if (!Array.isArray(events)) throw invalidParameter(parameter, "must be a JSON list of events");
  if (events.length === 0) throw invalidParameter(parameter, "must contain at least one event");
  return {
    parameter,
    events: events.some(isObjectText) ? events.map((event) => (isObjectText(event) ? parseJson(event, `Param ${parameter}`) : event)) : events,
  };
}

/**
 * Returns whether an event is given as JSON text. In a form, the parameter `custom_events` may be repeated, with the JSON text of one event in each
 * value (D-34).
 */
const isObjectText = (event: unknown): event is string => typeof event === "string" && event.trimStart().startsWith("{");

const utf8 = new TextDecoder("utf-8", { fatal: true });

function fileText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidParameter("custom_events_file", "is not valid UTF-8");
  }
}

/**
 * Returns the device as JSON text for the log (D-73). If `application_tracking_enabled` is 0, the text contains neither the device's IP address nor
 * the user data (D-76). The text of a device also leaves out values that nearly all devices have, because these values would take half of the text;
 * `readLoggedDevice` adds these values again.
 */
export function deviceText(device: Device): string {
  const { advertiser_id, attribution, extinfo, application_tracking_enabled, advertiser_tracking_enabled, user_data } = device;
  const isKept = application_tracking_enabled === 1;
  // JSON.stringify leaves out undefined values.
  return JSON.stringify({
    advertiser_id,
    attribution,
    extinfo,
    application_tracking_enabled: isKept ? undefined : 0,
    advertiser_tracking_enabled: advertiser_tracking_enabled === 1 ? undefined : 0,
    ip: isKept ? device.ip : undefined,
    ud: isKept && Object.keys(user_data.kept).length > 0 ? user_data.kept : undefined,
    dropped_user_data: user_data.dropped || undefined,
  });
}

/** Returns the identities by which a request can be found in the log: the ids of its device, and the persons in its user data. */
export const identitiesOf = (device: Device): string[] => [
  ...deviceIdentities(device),
  ...(device.application_tracking_enabled === 1 ? personsOf(device.user_data.kept) : []),
];

/** A device in the form in which `deviceText` writes it into the log. */
export interface LoggedDevice {
  readonly advertiser_id?: string;
  readonly attribution?: string;
  readonly ip?: string;
  readonly extinfo?: string[];
  readonly application_tracking_enabled: 0 | 1;
  readonly advertiser_tracking_enabled: 0 | 1;
  readonly ud?: UserData["kept"];
  readonly dropped_user_data: number;
}

const USUAL = { application_tracking_enabled: 1, advertiser_tracking_enabled: 1, dropped_user_data: 0 } as const satisfies LoggedDevice;

export const readLoggedDevice = (text: string): LoggedDevice => ({ ...USUAL, ...(JSON.parse(text) as Partial<LoggedDevice>) });

export const identitiesOfText = (text: string): string[] => {
  const device = readLoggedDevice(text);
  return [...deviceIdentities(device), ...personsOf(device.ud ?? {})];
};

const UUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;
/** The device ids that Plaza treats as missing. A device sends the UUID of all zeros if the device's owner has switched the advertising id off. */
const NO_IDS: ReadonlySet<string> = new Set(["", "00000000-0000-0000-0000-000000000000", "0".repeat(22)]);
const isNoId = (id: string): boolean => NO_IDS.has(id);

const UUID_CHARACTERS = 36;
export const isUuid = (id: string): boolean => id.length === UUID_CHARACTERS && UUID.test(id);
/**
 * D-74: converts an id to the form in which ids are compared. Two UUIDs are equal if they differ only in upper and lower case. The case matters only
 * in a cookie of 22 characters, which is not a UUID.
 */
const comparable = (id: string): string => (isUuid(id) ? id.toLowerCase() : id);

/** Returns the ids of a device in the form that the index and the touches store: `device:` before an advertising id, `cookie:` before a cookie. */
export function deviceIdentities({ advertiser_id, attribution }: { advertiser_id?: string | undefined; attribution?: string | undefined }): string[] {
  const identities: string[] = [];
  if (advertiser_id !== undefined && !isNoId(advertiser_id)) identities.push(`device:${comparable(advertiser_id)}`);
  if (attribution !== undefined && !isNoId(attribution)) identities.push(`cookie:${comparable(attribution)}`);
  return identities;
}

/** Returns whether an identity is the id of a device. An identity that is not the id of a device is a person. */
export const isDevice = (identity: string): boolean => identity.startsWith("device:") || identity.startsWith("cookie:");
