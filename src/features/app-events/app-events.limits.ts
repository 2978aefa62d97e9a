/** The limits of app events. The comment at each limit gives its source. */
import { UNIX_SECONDS_MAX } from "#kernel/clock";

const HOUR_SECONDS = 3_600;
export const DAY_SECONDS = 86_400;

/** D-70: an event has at most 25 parameters, and the value of a parameter has at most 100 characters. */
export const PARAMETERS_MAX = 25;
export const VALUE_CHARACTERS_MAX = 100;
/** The interface's document limits only the values of parameters. Plaza applies the limit of a parameter's value to the names of parameters, too. */
export const PARAMETER_NAME_CHARACTERS_MAX = 100;
/**
 * D-70: a list parameter has at most 1,000 entries; a shopping cart has fewer. Each text in an entry of a list parameter has at most
 * `VALUE_CHARACTERS_MAX` characters.
 */
export const LIST_ITEMS_MAX = 1_000;
export const EXTINFO_VALUES = 16;
/** The interface's document has no limit for device ids, so Plaza applies the limit of a parameter's value. An advertising id has 36 characters. */
export const DEVICE_ID_CHARACTERS_MAX = VALUE_CHARACTERS_MAX;
/**
 * D-290: the greatest number of ids that one device can have. A device gets a new cookie or advertising id now and then. If one device seems to have
 * more than 100 ids, it is likely that many devices send the same id.
 */
export const DEVICE_IDS_MAX = 100;
/**
 * The greatest number of events in a request. If each event has 100 bytes, 10,000 events fill the largest request body that Plaza accepts by default
 * (1 MiB).
 */
export const EVENTS_PER_REQUEST_MAX = 10_000;
/** D-70: the latest time of an event, in the year 9999. A larger `_logTime` is probably in milliseconds by mistake. */
export const LOG_TIME_MAX = UNIX_SECONDS_MAX;

/** D-71: two events with the same name and `event_id` are duplicates if their times differ by less than 48 hours. */
export const DEDUP_WINDOW_SECONDS = 48 * HOUR_SECONDS;

/** LIM-10, ATTR-3: an event can be attributed to a click in the last 30 days. */
export const CLICK_WINDOW_SECONDS = 30 * DAY_SECONDS;
/** LIM-11, ATTR-4: an event can be attributed to an impression in the last day. */
export const VIEW_WINDOW_SECONDS = DAY_SECONDS;
/** LIM-12: reports attribute events to clicks in the last 28 days and to impressions in the last day. */
export const REPORT_CLICK_WINDOW_SECONDS = 28 * DAY_SECONDS;
export const REPORT_VIEW_WINDOW_SECONDS = DAY_SECONDS;

/**
 * D-74: the greatest number of attribution rows in the response to reported events. If more events are attributed, the response has only the newest
 * attributed events. The largest page of any list has 100 rows, too (D-31).
 */
export const ATTRIBUTED_AT_ONCE = 100;
