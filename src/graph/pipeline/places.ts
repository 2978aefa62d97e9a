/** D-34, D-40, D-41, D-50: which parameters a request may have, and where each is read from, the query or the body. */
import { invalidParameter } from "#kernel/errors";
import { suggestion } from "#kernel/suggestion";
import { parametersOfAll } from "../contract/general-parameters.ts";
import type { Place } from "../contract/operation.ts";
import type { Profile } from "../worlds/world.ts";
import { textOf } from "./parameters.ts";
import type { GraphRequest, Parameters } from "./request.ts";

type Placed = Pick<GraphRequest, "query" | "body">;

/** Bodies carry parameters on every method, and the body wins over the query. */
export function parametersOf({ query, body }: Placed): Parameters {
  if (isEmpty(body)) return query;
  if (isEmpty(query)) return body;
  const parameters: Record<string, unknown> = { ...query, ...body };
  // D-41: null in the body is no value where the query has one.
  for (const name in query) if (body[name] === null) parameters[name] = query[name];
  return parameters;
}

/** Throws `invalidParameter` where a parameter has two different values, and in `strict` where it is only in the other place. */
export function checkPlaces({ query, body }: Placed, places: Readonly<Record<string, Place>>, profile: Profile): void {
  for (const name in places) {
    const inQuery = query[name] ?? undefined;
    const inBody = body[name] ?? undefined;
    if (inQuery !== undefined && inBody !== undefined && textOf(inQuery) !== textOf(inBody)) {
      throw invalidParameter(name, "must not have one value in the query and another in the body");
    }
    const place = places[name];
    const isMisplaced = place === "query" ? inQuery === undefined && inBody !== undefined : inBody === undefined && inQuery !== undefined;
    if (isMisplaced && profile === "strict") throw invalidParameter(name, `must be in the ${place}`);
  }
}

/** The parameters under the interface's own names, in each place for itself. */
export function withoutAliases({ query, body }: Placed, aliases: Readonly<Record<string, string>>): Placed {
  return { query: underOwnNames(query, aliases), body: underOwnNames(body, aliases) };
}

function underOwnNames(parameters: Parameters, aliases: Readonly<Record<string, string>>): Parameters {
  const given = Object.entries(aliases).filter(
    ([alias, name]) => (parameters[alias] ?? undefined) !== undefined && (parameters[name] ?? undefined) === undefined,
  );
  return given.length === 0 ? parameters : { ...parameters, ...Object.fromEntries(given.map(([alias, name]) => [name, parameters[alias]])) };
}

/** D-50, D-57: throws `invalidParameter` for a parameter that is neither one of every operation nor one of `names`. */
export function refuseUndeclared(parameters: Parameters, names: readonly string[]): void {
  for (const name in parameters) {
    if (!parametersOfAll.has(name) && !names.includes(name)) throw invalidParameter(name, `is not known here${suggestion(name, names)}`);
  }
}

function isEmpty(parameters: Parameters): boolean {
  for (const _ in parameters) return false;
  return true;
}
