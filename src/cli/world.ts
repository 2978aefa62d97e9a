/** `plaza world …`. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { ConfigProblem } from "#config/config";
import { type Control, type Given, listAll, show, withControl } from "./control-or-data.ts";

const addressOf = ({ world_name }: Given): string => `/v1/worlds/${encodeURIComponent(String(world_name))}`;

export const listWorlds = (given: Given): Promise<number> => withControl(given, (control) => listAll(control, "/v1/worlds"));

/** Prints the world's file. */
export const exportWorld = (given: Given): Promise<number> =>
  withControl(given, async (control) => show(await control.request(`${addressOf(given)}/export`, { method: "GET" })));

/** Merges a world file into the world, whole or not at all; `-` is standard input. */
export function importWorld(file: string, given: Given): Promise<number> {
  const run = async (control: Control): Promise<number> => {
    const body = await readWorldFile(file);
    return show(await control.request(`${addressOf(given)}/import`, { method: "POST", body, headers: { "content-type": "text/plain" } }));
  };
  return withControl(given, run, { makesData: true });
}

async function readWorldFile(file: string): Promise<string> {
  try {
    return file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    throw new ConfigProblem("<file>", `${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
