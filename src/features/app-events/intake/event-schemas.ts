/**
 * D-363: compares custom events with the schemas that their app has given them. The result is only shown; the events are stored and counted as
 * without schemas.
 */
import type { AppFacts } from "#auth/app-facts";
import { givenSchema, type SchemaCheck } from "#graph/schema/given-schema";
import { amountText } from "./amounts.ts";
import type { ReportedEvent } from "./parse-events.ts";
import { EVENTS_SHOWN_MAX } from "./test-view.ts";

/** The checks of an app's schemas, made once for each reading of the app's facts. */
const made = new WeakMap<AppFacts["event_schemas"], ReadonlyMap<string, SchemaCheck>>();

function checksOf(schemas: AppFacts["event_schemas"]): ReadonlyMap<string, SchemaCheck> {
  const known = made.get(schemas) ?? new Map(Object.entries(schemas).map(([name, schema]) => [name, givenSchema(schema)]));
  made.set(schemas, known);
  return known;
}

const NONE: ReadonlyMap<number, string> = new Map();

/** How events break their schemas, by the indexes of these events. Only the events that are shown are compared. */
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

/** The event as its schema describes it: the parameters, and `_valueToSum` as a number. */
const described = ({ parameters, value }: ReportedEvent): unknown => ({
  ...(parameters === "" ? {} : JSON.parse(parameters)),
  ...(value === undefined ? {} : { _valueToSum: Number(amountText(value)) }),
});
