/** A script of `plaza trigger`: a list of steps in YAML or JSON, read and checked as a whole before the first is done. */
import { type Static, type TSchema, Type } from "typebox";
import { parse } from "yaml";
import { ConfigProblem } from "#config/config";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { readTextFile } from "../terminal/text-file.ts";
import type { Override } from "./overrides.ts";

/** One event to make. */
export interface Trigger {
  readonly event: string;
  readonly entity?: string | undefined;
  readonly phone_number?: string | undefined;
  /** An example where it is left out. */
  readonly value?: unknown;
  readonly overrides: readonly Override[];
}

export type Step =
  | { readonly trigger: Trigger }
  /** Moves the world's clock by so many seconds. */
  | { readonly advance: number }
  /** Merges what a world file would hold. */
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
    /** By path, as `--override` has it. */
    override: Type.Optional(anyMap),
  },
  closed,
);
const advanceStep = Type.Object({ advance: Type.Integer({ minimum: 0 }) }, closed);
const worldStep = Type.Object({ world: anyMap }, closed);

/** Throws `ConfigProblem`, which names the step. */
export async function readScript(file: string): Promise<readonly Step[]> {
  const list = parsed(await readTextFile("--script", file), file);
  if (!Array.isArray(list) || list.length === 0) throw new ConfigProblem("--script", `${file} must hold a list of steps`);
  if (list.length > STEPS_MAX) throw new ConfigProblem("--script", `${file} holds more than ${STEPS_MAX} steps`);
  return list.map((given, at) => {
    try {
      return stepOf(given);
    } catch (error) {
      if (!(error instanceof WorldProblem)) throw error;
      throw new ConfigProblem("--script", `step ${at + 1} of ${file}: ${error.path} ${error.problem}`);
    }
  });
}

function parsed(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new ConfigProblem("--script", `${file}: ${(error instanceof Error ? error.message : String(error)).split("\n", 1)[0]}`);
  }
}

function stepOf(given: unknown): Step {
  const keys = typeof given === "object" && given !== null ? Object.keys(given) : [];
  const read = <S extends TSchema>(schema: S) => entryReader(schema)(given) as Static<S>;
  if (keys.includes("advance")) return read(advanceStep);
  if (keys.includes("world")) return read(worldStep);
  if (!keys.includes("event")) throw new WorldProblem("it", "has none of event, advance and world");
  const { override = {}, value, ...event } = read(eventStep);
  if (value !== undefined && Object.keys(override).length > 0)
    throw new WorldProblem("override", "changes the example, and value replaces it: give one of them");
  return { trigger: { ...event, value, overrides: Object.entries(override).map(([path, one]) => ({ path, value: one })) } };
}
