/** Reads a script of `plaza trigger`: a list of steps in YAML or JSON. All steps are checked before the first step runs. */
import { type Static, type TSchema, Type } from "typebox";
import { ConfigProblem } from "#config/config";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { readYaml } from "#graph/worlds/file/yaml";
import { InexactNumber, parseExactJson } from "#kernel/json/exact-json";
import { readTextFile } from "../terminal/output.ts";

/** A step that triggers an event. */
export interface Trigger {
  readonly event: string;
  readonly entity?: string | undefined;
  readonly phone_number?: string | undefined;
  /** The value of the event; if it is undefined, the event has the value of the example. */
  readonly value?: unknown;
  readonly overrides: readonly Override[];
}

type Step =
  | { readonly trigger: Trigger }
  /** A step that advances the world's clock by a number of seconds. */
  | { readonly advance: number }
  /** A step that merges entries of a world file into the world. */
  | { readonly world: Readonly<Record<string, unknown>> };

const STEPS_MAX = 1_000;

const closed = { additionalProperties: false };
const anyMap = Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}, { additionalProperties: true }));
const eventStep = Type.Object(
  {
    event: Type.String(),
    entity: Type.Optional(worldId),
    phone_number: Type.Optional(worldId),
    value: Type.Optional(anyMap),
    /** Values that replace values of the example, by their paths, as with the option `--override`. */
    override: Type.Optional(anyMap),
  },
  closed,
);
const advanceStep = Type.Object({ advance: Type.Integer({ minimum: 0 }) }, closed);
const worldStep = Type.Object({ world: anyMap }, closed);

/** Reads a script. Throws `ConfigProblem` with a message that has the number of the wrong step. */
export async function readScript(file: string): Promise<readonly Step[]> {
  const list = await readYaml(await readTextFile("--script", file)).catch((error: Error) => {
    throw new ConfigProblem("--script", `${file}: ${error.message}`);
  });
  if (!Array.isArray(list) || list.length === 0) throw new ConfigProblem("--script", `${file} must contain a list of steps`);
  if (list.length > STEPS_MAX) throw new ConfigProblem("--script", `${file} has more than ${STEPS_MAX} steps`);
  return list.map((given, at) => {
    try {
      return stepOf(given);
    } catch (error) {
      if (!(error instanceof WorldProblem)) throw error;
      throw new ConfigProblem("--script", `step ${at + 1} of ${file}: ${error.path} ${error.problem}`);
    }
  });
}

function stepOf(given: unknown): Step {
  const keys = typeof given === "object" && given !== null ? Object.keys(given) : [];
  const read = <S extends TSchema>(schema: S) => entryReader(schema)(given) as Static<S>;
  if (keys.includes("advance")) return read(advanceStep);
  if (keys.includes("world")) return read(worldStep);
  if (!keys.includes("event")) throw new WorldProblem("the step", "needs event, advance or world");
  const { override = {}, value, ...event } = read(eventStep);
  if (value !== undefined && Object.keys(override).length > 0)
    throw new WorldProblem("override", "changes the example, and value replaces the whole example: give only one of the two");
  return { trigger: { ...event, value, overrides: Object.entries(override).map(([path, one]) => ({ path, value: one })) } };
}

/** The greatest number of steps in the path of an override. No payload is nested deeper than this limit, which bounds the work for one override. */
const PATH_STEPS_MAX = 32;
/** Matches one step of a path: a key, or the index of a list's item. */
const STEP = /^(?:([^.[\]]+)|\[(\d{1,6})\])/;

type Override = { readonly path: string } & (
  | { readonly value: unknown }
  /** A text of the command line. The value that it replaces decides its type. */
  | { readonly text: string }
);

const wrong = (path: string, problem: string): ConfigProblem => new ConfigProblem("--override", `"${path}" ${problem}`);

/** Parses an override, `path=value`. Throws `ConfigProblem`. */
export function overrideOf(given: string): Override {
  const at = given.indexOf("=");
  if (at < 1) throw wrong(given, "is not path=value, e.g. messages[0].text.body=hello");
  return { path: given.slice(0, at), text: given.slice(at + 1) };
}

/** Replaces values of an example by the values of overrides. Throws `ConfigProblem`. */
export const withOverrides = (example: unknown, overrides: readonly Override[]): unknown =>
  overrides.reduce((value, override) => replaced(value, stepsOf(override.path), override), example);

type Steps = readonly (string | number)[];

function stepsOf(path: string): Steps {
  const steps: (string | number)[] = [];
  for (let rest = path; rest !== ""; ) {
    const match = STEP.exec(rest);
    if (match === null || steps.length === PATH_STEPS_MAX) throw wrong(path, "cannot be read as a path: write label.name or messages[0].id");
    const [step, key, index] = match;
    steps.push(key ?? Number(index));
    rest = rest.slice(step.length);
    if (rest.startsWith(".") && rest.length > 1) rest = rest.slice(1);
  }
  return steps;
}

function replaced(before: unknown, [step, ...rest]: Steps, override: Override): unknown {
  if (step === undefined) return "text" in override ? typed(override.text, before) : override.value;
  if (typeof step === "number") {
    const list = before ?? [];
    if (!Array.isArray(list)) throw wrong(override.path, `has the index ${step} after a value that is not a list`);
    if (step > list.length) throw wrong(override.path, `has the index ${step}, but the length of the list is ${list.length}`);
    return list.toSpliced(step, 1, replaced(list[step], rest, override));
  }
  const map = before ?? {};
  if (typeof map !== "object" || Array.isArray(map)) throw wrong(override.path, `has the key ${step} after a value that is not an object`);
  const inside = Object.hasOwn(map, step) ? (map as Record<string, unknown>)[step] : undefined;
  return { ...map, [step]: replaced(inside, rest, override) };
}

/**
 * Converts the text of an override to a JSON value. If the example has a text at the path, the result is a text; otherwise the result is the
 * parsed JSON, or the text itself if the text is not JSON.
 */
function typed(text: string, before: unknown): unknown {
  if (typeof before === "string") return text;
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactNumber) throw new ConfigProblem("--override", error.message);
    return text;
  }
}
