import { errorFields, type Log } from "./log.ts";

/**
 * A promise that failed while nobody waited for it is a programmer's mistake and is logged as one. It is no reason to break off
 * the calls that are under way: what they change stands in transactions, not in this process.
 */
export function outliveStrayFailures(log: Log): void {
  process.on("unhandledRejection", (error) => log.error(errorFields(error), "a failure that nobody waited for"));
}
