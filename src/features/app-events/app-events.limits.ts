/** The limits of app events, each with its source. */
import { UNIX_SECONDS_MAX } from "#kernel/clock";

const HOUR_SECONDS = 3_600;
export const DAY_SECONDS = 86_400;

/** D-70: the greatest number of parameters of one event, and of characters in a parameter's value. */
export const PARAMETERS_MAX = 25;
export const VALUE_CHARACTERS_MAX = 100;
/** The document limits only the values of parameters. Plaza gives the names of parameters the same limit. */
export const PARAMETER_NAME_CHARACTERS_MAX = 100;
/** D-70: the greatest number of entries in a list parameter; a shopping cart has fewer. Each text in an entry has the limit of values. */
export const LIST_ITEMS_MAX = 1_000;
export const EXTINFO_VALUES = 16;
/** The document names no limit of device ids, so these have the limit of values; advertising ids have 36 characters. */
export const DEVICE_ID_CHARACTERS_MAX = VALUE_CHARACTERS_MAX;
/**
 * D-290: the greatest number of ids that are joined to one device. A device gets a new cookie or advertising id now and then; more than 100 ids mean
 * that many devices send the same id.
 */
export const DEVICE_IDS_MAX = 100;
/** With 100 bytes for each event, 10,000 events fill the largest body that is accepted by default (1 MiB). */
export const EVENTS_PER_REQUEST_MAX = 10_000;
/** D-70: the latest time of an event, in the year 9999. A larger `_logTime` is in milliseconds by mistake. */
export const LOG_TIME_MAX = UNIX_SECONDS_MAX;

/** D-71: two events with the same name and `event_id` are duplicates if their times differ by less than 48 hours. */
export const DEDUP_WINDOW_SECONDS = 48 * HOUR_SECONDS;

/** LIM-10, ATTR-3: an event is attributed to a click of the last 30 days. */
export const CLICK_WINDOW_SECONDS = 30 * DAY_SECONDS;
/** LIM-11, ATTR-4: an event is attributed to an impression of the last day. */
export const VIEW_WINDOW_SECONDS = DAY_SECONDS;
/** LIM-12: reports attribute events to clicks of the last 28 days and to impressions of the last day. */
export const REPORT_CLICK_WINDOW_SECONDS = 28 * DAY_SECONDS;
export const REPORT_VIEW_WINDOW_SECONDS = DAY_SECONDS;

/** D-74: the number of attribution rows, newest first, in the response to reported events: as many as the largest page of a list has (D-31). */
export const ATTRIBUTED_AT_ONCE = 100;
