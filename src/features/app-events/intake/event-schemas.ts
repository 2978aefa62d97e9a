/**
 * D-363: compares custom events with the schemas that their app has set. Plaza only shows the result of the comparison; events that violate their
 * schemas are stored and counted, too.
 */
import type { AppFacts } from "#auth/app-facts";
import { givenSchema, type SchemaCheck } from "#graph/schema/given-schema";
import { amountText } from "./amounts.ts";
import type { ReportedEvent } from "./parse-events.ts";
import { EVENTS_SHOWN_MAX } from "./test-view.ts";

/**
 * The functions that check events against an app's schemas. Plaza compiles these functions again only after it has read the app from the database
 * again.
 */
const made = new WeakMap<AppFacts["event_schemas"], ReadonlyMap<string, SchemaCheck>>();

function checksOf(schemas: AppFacts["event_schemas"]): ReadonlyMap<string, SchemaCheck> {
  const known = made.get(schemas) ?? new Map(Object.entries(schemas).map(([name, schema]) => [name, givenSchema(schema)]));
  made.set(schemas, known);
  return known;
}

const NONE: ReadonlyMap<number, string> = new Map();

/**
 * Returns texts that say how events violate their schemas, by the index of each event. Plaza checks only the events that the view of test events
 * shows.
 */
export function violationsOf({ event_schemas }: Pick<AppFacts, "event_schemas">, events: readonly ReportedEvent[]): ReadonlyMap<number, string> {
  const checks = checksOf(event_schemas);
  if (checks.size === 0) return NONE;
  const found = new Map<number, string>();
  for (const [at, event] of events.slice(0, EVENTS_SHOWN_MAX).entries()) {
    const problem = checks.get(event.name)?.(described(event));
    if (problem !== undefined) found.set(at, problem);
  }
  return found;
}

/** Returns the value that is checked against the schema: the event's parameters, with `_valueToSum` as a number. */
const described = ({ parameters, value }: ReportedEvent): unknown => ({
  ...(parameters === "" ? {} : JSON.parse(parameters)),
  ...(value === undefined ? {} : { _valueToSum: Number(amountText(value)) }),
});
