/**
 * D-22: the usage headers, in the form that clients of the platform parse. Plaza limits the number of requests and not their time, so the times in
 * the usage headers are 0.
 */

const TIMES = '"total_cputime":0,"total_time":0';
export const NO_APP_USAGE = `{"call_count":0,${TIMES}}`;
/** The usage header of a request that does not address a node, or whose caller may not know that the node exists. */
export const NO_CASE_USAGE = "{}";

/** The usage header of an app. `percent` is the percentage of the app's hourly quota that is used. */
export const appUsage = (percent: number): string => (percent === 0 ? NO_APP_USAGE : `{"call_count":${percent},${TIMES}}`);

/**
 * The usage header of a page or account. `id` is the node whose requests are counted. `waitMinutes` is the time until the next request is allowed.
 */
export const caseUsage = (id: string, percent: number, waitMinutes: number): string =>
  `{"${id}":[{"type":"pages","call_count":${percent},${TIMES},"estimated_time_to_regain_access":${waitMinutes}}]}`;
