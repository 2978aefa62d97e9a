import { errorFields, type Log } from "./log.ts";

/**
 * Logs rejected promises that nothing awaits, which are programmers' mistakes. Requests go on, because their changes are in transactions, not in this
 * process.
 */
export function outliveStrayFailures(log: Log): void {
  process.on("unhandledRejection", (error) => log.error(errorFields(error), "a rejected promise that nothing awaited"));
}
