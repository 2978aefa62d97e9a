import { errorFields, type Log } from "./log.ts";

/**
 * Logs rejected promises that no code awaits; these are programmers' mistakes. The server continues to serve requests after such a mistake, because
 * data change in transactions of the database, and not in the memory of this process.
 */
export function outliveStrayFailures(log: Log): void {
  process.on("unhandledRejection", (error) => log.error(errorFields(error), "a promise was rejected that no code awaits"));
}
