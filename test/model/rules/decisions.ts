/**
 * Decisions and errors of the interface that have no rule in `rules.ts`. Together with the rules these are all of them, which model.test.ts
 * holds against spec/decisions and the errors' reference page.
 */

/** The model follows them, and every response or webhook that they concern is compared; nothing is counted for them alone. */
export const withoutRule: Readonly<Record<string, string>> = {
  "D-16": "which fields a caller gets: today no field differs from its operation",
  "D-35": "tags have cursors and no links",
  "D-36": "labels have one name in lists and another in their own read",
  "D-37": "id is in every response",
  "D-38": "selections inside objects and nodes; edges in fields are not drawn but for children and crossposted_pages",
  "D-59": "accounts and numbers, and their lists",
  "D-61": "the handshake of every callback that a history sets",
  "D-73": "values that are not hashes are dropped",
  "D-83": "pf-api-version of every response",
  "D-93": "who may not see a node gets the response of a missing one, wherever the tokens stand",
  "D-95": "a cursor of another list is refused; how it is signed does not show",
  "D-96": "the order of every list",
  "D-112": "sealing that fails, by the control API",
  "D-115": "a broadcast without a feed ends; no encoder sends one",
  "D-120": "activity counts for its target",
  "D-122": "the window of the built-in migration, and calendars that replace it",
  "D-123": "a version of marketing before its release",
  "D-133": "who may send to himself",
  "D-134": "sender and recipient of every event of an account",
  "D-135": "every event of a page",
  "D-141": "bad rows are reported",
  "D-313": "how files are written; histories send one form of each",
  "D-314": "the process that reads a file; no history sends a hostile one",
  "D-144": "agency data without a business",
  "D-145": "reads of catalogs and feeds",
  "D-161": "lists as JSON, repeated, or with commas",
  "D-162": "flags, which the profiles read in their own ways",
  "D-163": "fields that are not served, by the names that histories use",
  "D-165": "plain reads",
  "D-292": "counts and sums of every day",
  "D-315": "general parameters, which every operation takes",
  "D-261": "cursors and ids of one world mean nothing in another",
};

/** No history draws what these are about. */
export const notDrawn: Readonly<Record<string, string>> = {
  "D-01": "surfaces by their mounts alone, not by Host, proxies or a public address; client libraries do not send malformed heads",
  "D-05": "the page for browsers at the root",
  "D-22": "a sandbox has no rates",
  "D-64": "callbacks are loopback addresses, which a sandbox allows",
  "D-94": "how secrets are stored does not show, but for an import into another server",
  "D-97": "six histories are not a flood",
  "D-98": "nor do they open many connections",
  "D-116": "the player",
  "D-118": "media servers",
  "D-119": "the test encoder",
  "D-136": "a payload that breaks its contract needs a fault in the program",
  "D-150": "faults on purpose; the receivers fail by themselves",
  "D-170": "keys of the control API",
  "D-171": "another sealing key for the same data",
  "D-186": "expectations are of the control API",
  "D-187": "the test kit",
  "D-195": "a world file that is watched",
  "D-260": "worlds by their paths alone, not by host names",
  "D-265": "the document of the control API",
  "D-291": "names are deactivated alone",
  "D-293": "events have no lists as parameters",
  "D-271": "the console",
  "D-272": "stories of requests, and debug=all",
  "D-275": "the page of the API reference",
  "D-277": "signatures of attempts that the control API makes again",
  "D-278": "what the control API refuses",
  "D-279": "alerts",
};

/** No history causes them: what is broken, too much or too slow. */
export const errorsNotDrawn: readonly string[] = [
  "internalError",
  "databaseUnreachable",
  "overloaded",
  "appRateLimited",
  "edgeRateLimited",
  "requestTooSlow",
];
