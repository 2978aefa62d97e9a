/**
 * The schemas with which a feature describes its entries of a world file (docs/operating/worlds.md). The section gets each entry in its normal form:
 * ids are strings, times are Unix seconds, `default`s of the schema are filled in, and the entry has no unknown keys.
 *
 * const entry = closedMap({ id: described("the label's id", worldId), name: Type.String({ description: "the label's name" }) }, "a label of a page");
 *
 * Each key has a description.
 */
import { type TProperties, type TSchema, Type } from "typebox";
import { UNIX_SECONDS_MAX } from "#kernel/clock";
import { GraphError } from "#kernel/errors";
import { isNodeId, type NodeId } from "#kernel/ids";
import { ValueProblem } from "../../schema/scalars.ts";
import { READ_AS, REFERS_TO, type RefersTo } from "../../schema/schema-node.ts";

/**
 * The error about a world file, or about the entry in a request to the control API. `path` is the path of the problem in the world file, e.g.
 * `labels[0].name`.
 */
export class WorldProblem extends ValueProblem {
  constructor(path: string, problem: string) {
    super(problem, path);
    this.name = "WorldProblem";
  }
}

/**
 * The error about a value that must be unique and that another stored entry already has. If a unique value is taken, the control API responds with
 * the status 409.
 */
export class TakenProblem extends WorldProblem {}

/** Returns the problem with its path extended to the top of the world file. An error of a feature (`GraphError`) does not have a path. */
export function below(error: unknown, place: string): unknown {
  if (error instanceof GraphError) return new WorldProblem(place, `is refused: ${error.message}`);
  if (!(error instanceof WorldProblem)) return error;
  const rest = error.path === "" || error.path.startsWith("[") ? error.path : `.${error.path}`;
  return new WorldProblem(place + rest, error.problem);
}

/** The schema of a node id (D-02): a decimal string, or an integer, which is read as a string. */
export const worldId = Type.Unsafe<NodeId>({
  anyOf: [
    { type: "string", pattern: "^[1-9][0-9]{0,18}$" },
    { type: "integer", minimum: 1 },
  ],
  [READ_AS]: "id",
});

/**
 * The schema of the id of an existing node of one of the given types. If `ownerKey` is given, the entry has the id of an owner under this key, and
 * the node must belong to that owner.
 */
export const idOf = (types: string | readonly string[], ownerKey?: string): typeof worldId =>
  Type.Unsafe<NodeId>({ ...worldId, [REFERS_TO]: { types: [types].flat(), ownerKey } satisfies RefersTo });

/** The schema of a map that may have only the given keys. `rules` are keywords about several keys (`schema/rules.ts`). */
export const closedMap = <P extends TProperties>(keys: P, description?: string, rules: object = {}) =>
  Type.Object(keys, { additionalProperties: false, ...(description === undefined ? {} : { description }), ...rules });

/** Adds a description to the schema: a short phrase that editors, the reference page, the control API's documents and the console show. */
export const described = <S extends TSchema>(description: string, schema: S): S => ({ ...schema, description });

/**
 * A pattern for OpenAPI documents that matches the texts that `secondsOf` accepts. `secondsOf` also refuses 29 February in years that do not have it.
 */
const ISO_WORDS =
  "^(19[7-9]\\d|[2-9]\\d{3})-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|[12]\\d))([T ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d+)?)?(Z|[+-]([01]\\d|2[0-3]):?[0-5]\\d)?)?$";

/** The schema of a point in time: Unix seconds, or an ISO 8601 string such as `2026-11-01T10:00:00+0000`, which is converted to Unix seconds. */
export const worldTime = Type.Unsafe<number>({
  anyOf: [
    { type: "integer", minimum: 0, maximum: UNIX_SECONDS_MAX },
    { type: "string", pattern: ISO_WORDS },
  ],
  [READ_AS]: "time",
});

/** The schema of an optional point in time with a default. `seconds` is the default of the time, in Unix seconds. */
export const worldTimeOr = (seconds: number): typeof worldTime => Type.Unsafe<number>({ ...worldTime, default: seconds });

/** Matches the text of a point in time: date, time, fraction and offset. A date without a time means its first second in UTC. */
const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** Whether a date such as 30 February exists. The check is needed because `Date.parse` accepts 30 February as a day of March. */
const isDay = (date: string): boolean => new Date(Date.parse(`${date}T00:00:00Z`) || 0).toISOString().startsWith(date);

/**
 * Reads a point in time, written as an integer or an ISO 8601 string, as Unix seconds. A time in a string without an offset is in UTC. Throws
 * `WorldProblem` for any value that is not a point in time.
 */
export function secondsOf(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= UNIX_SECONDS_MAX) return value;
  const match = typeof value === "string" ? ISO.exec(value) : null;
  const [, date, time = "00:00:00", offset = "Z"] = match ?? [];
  const zone = /^[+-]\d{4}$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset.toUpperCase();
  const milliseconds = date === undefined || !isDay(date) ? Number.NaN : Date.parse(`${date}T${time}${zone}`);
  const seconds = Math.floor(milliseconds / 1000);
  if (!(seconds >= 0 && seconds <= UNIX_SECONDS_MAX)) throw new WorldProblem(path, "must be Unix seconds or an ISO 8601 time");
  return seconds;
}

/** Reads a node id from a string or an integer. Throws `WorldProblem` for any value that is not a node id. */
export function readId(value: unknown, path: string): NodeId {
  // If a number is above 2^53, the YAML or JSON parser has already lost digits of the id.
  if (typeof value === "number" && value > Number.MAX_SAFE_INTEGER) throw new WorldProblem(path, "must be in quotes: it has too many digits");
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !isNodeId(text)) throw new WorldProblem(path, "must be an id: a decimal number from 1 to 9223372036854775807");
  return text;
}
