/** Schedules as callers write them. */
import { Type } from "typebox";
import { asked, neverGiven } from "#graph/schema/asked";
import type { World } from "#graph/worlds/world";
import { CallbackRefused } from "#outbound/address-rules";
import { isTimezone, type Schedule, scheduleWords } from "./schedule.ts";

/** D-147: what Plaza refuses, and does not leave out, since a fetch without them would fail for no reason that the caller could see. */
const refused = Type.Optional(Type.Unknown({ description: "not supported: files are fetched without credentials", ...asked(neverGiven) }));
export const credentials = { username: refused, password: refused };

/** Null, or an empty text in a form, removes it. */
export const scheduleParameter = (description: string) =>
  Type.Optional(Type.Union([Type.Object({ ...scheduleWords, ...credentials }), Type.Null(), Type.Literal("")], { description }));

export interface GivenSchedule extends Schedule {
  readonly username?: unknown;
  readonly password?: unknown;
}

/** Says why something cannot be fetched, and where in the schedule that stands. */
export type Refuse = (place: string, problem: string) => Error;

/** The stored form: JSON, or null for none. Throws what `refuse` makes. */
export function storedSchedule(given: GivenSchedule | null | "", world: World, refuse: Refuse): string | null {
  if (given === null || given === "") return null;
  const { username, password, ...schedule } = given;
  refuseCredentials({ username, password }, refuse);
  refuseAddress(schedule.url, world, refuse);
  if (!isTimezone(schedule.timezone)) throw refuse("timezone", "is not a name of the time zone database, e.g. Europe/Berlin");
  return JSON.stringify(schedule);
}

export function refuseCredentials(sent: Pick<GivenSchedule, "username" | "password">, refuse: Refuse): void {
  for (const name of ["username", "password"] as const)
    if (sent[name] !== undefined) throw refuse(name, "is not supported; Plaza fetches files without credentials");
}

export function refuseAddress(url: string, world: World, refuse: Refuse): void {
  const problem = addressProblem(world, url);
  if (problem !== undefined) throw refuse("url", `cannot be fetched: ${problem}`);
}

/** D-64: what the address itself is refused for; what its name resolves to is checked when it is fetched. */
export function addressProblem({ outbound }: World, url: string): string | undefined {
  try {
    outbound.check(url);
    return undefined;
  } catch (error) {
    if (error instanceof CallbackRefused) return error.message;
    throw error;
  }
}
