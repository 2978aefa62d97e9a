/** Every number of the feature, each with its source. */

const HOUR_SECONDS = 3_600;
export const DAY_SECONDS = 86_400;

/** D-70. */
export const PARAMETERS_MAX = 25;
export const VALUE_CHARACTERS_MAX = 100;
/** The document bounds values alone; names of parameters get the same feature. */
export const PARAMETER_NAME_CHARACTERS_MAX = 100;
export const EXTINFO_VALUES = 16;
/** Advertising ids have 36 characters; the document names no length, so they get that of any value. */
export const DEVICE_ID_CHARACTERS_MAX = VALUE_CHARACTERS_MAX;
/** At some 100 bytes each they fill the largest body that is taken by default. */
export const EVENTS_PER_CALL_MAX = 10_000;
/** 9999-12-31: a `_logTime` beyond it was meant in milliseconds. */
export const LOG_TIME_MAX = 253_402_300_799;

/** D-71: how long an `event_id` is remembered, in event time. */
export const DEDUP_WINDOW_SECONDS = 48 * HOUR_SECONDS;

/** LIM-10, ATTR-3. */
export const CLICK_WINDOW_SECONDS = 30 * DAY_SECONDS;
/** LIM-11, ATTR-4. */
export const VIEW_WINDOW_SECONDS = DAY_SECONDS;
/** LIM-12: the model of reports. */
export const REPORT_CLICK_WINDOW_SECONDS = 28 * DAY_SECONDS;
export const REPORT_VIEW_WINDOW_SECONDS = DAY_SECONDS;

/** Events of one response about attribution, newest first: a device with more is no person. */
export const ATTRIBUTED_EVENTS_MAX = 1_000;
