import { errorFields, type Log } from "./log.ts";

/**
 * Logs rejected promises that no code awaits; these are programmers' mistakes. The server continues to serve requests, because changes of the data
 * are in transactions and not in this process.
 */
export function outliveStrayFailures(log: Log): void {
  process.on("unhandledRejection", (error) => log.error(errorFields(error), "a promise was rejected that no code awaits"));
}
