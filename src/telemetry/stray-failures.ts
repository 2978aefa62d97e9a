import { errorFields, type Log } from "./log.ts";

/**
 * A rejected promise that nothing awaits is a programmer's mistake and is logged. Requests go on, because their changes are in transactions, not in this
 * process.
 */
export function outliveStrayFailures(log: Log): void {
  process.on("unhandledRejection", (error) => log.error(errorFields(error), "a rejected promise that nothing awaited"));
}
