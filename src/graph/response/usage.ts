/** D-22: the usage headers, in the shape that clients of such platforms parse. Plaza limits requests, not time: the times are 0. */

const TIMES = '"total_cputime":0,"total_time":0';
export const NO_APP_USAGE = `{"call_count":0,${TIMES}}`;
/** For a request without a node that the caller may know of. */
export const NO_CASE_USAGE = "{}";

/** `percent`: how many of the app's requests of an hour are used. */
export const appUsage = (percent: number): string => (percent === 0 ? NO_APP_USAGE : `{"call_count":${percent},${TIMES}}`);

/** `id`: the node whose requests are counted. `waitMinutes`: until the next request is allowed. */
export const caseUsage = (id: string, percent: number, waitMinutes: number): string =>
  `{"${id}":[{"type":"pages","call_count":${percent},${TIMES},"estimated_time_to_regain_access":${waitMinutes}}]}`;
