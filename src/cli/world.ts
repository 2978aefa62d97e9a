/** `plaza world …`. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { ConfigProblem } from "#config/config";
import { type Control, type Given, listAll, post, show, withControl } from "./control-or-data.ts";
import { exitCodeOf } from "./process-end.ts";

const addressOf = ({ world_name }: Given): string => `/v1/worlds/${encodeURIComponent(String(world_name))}`;

export const listWorlds = (given: Given): Promise<number> => withControl(given, (control) => listAll(control, "/v1/worlds"));

/** Prints the world's file. */
export const exportWorld = (given: Given): Promise<number> =>
  withControl(given, async (control) => show(await control.request(`${addressOf(given)}/export`, { method: "GET" })));

/** Merges a world file into the world, whole or not at all; `-` is standard input. */
export async function importWorld(file: string, given: Given): Promise<number> {
  let body: string;
  try {
    // Before the data is opened: a file that cannot be read shall leave no empty data behind.
    body = await readWorldFile(file);
  } catch (error) {
    process.stderr.write(`plaza: ${(error as Error).message}\n`);
    return exitCodeOf(error);
  }
  const run = async (control: Control): Promise<number> =>
    show(await control.request(`${addressOf(given)}/import`, { method: "POST", body, headers: { "content-type": "text/plain" } }));
  return withControl(given, run, { makesData: true });
}

export function newWorld(name: string, file: string | undefined, given: Given): Promise<number> {
  const run = async (control: Control): Promise<number> =>
    show(await post(control, "/v1/worlds", file === undefined ? { name } : { name, file: await readWorldFile(file) }));
  return withControl(given, run, { makesData: true });
}

/** `path` is below the world. */
export const changeWorld = (method: string, path: string, given: Given, body?: Record<string, unknown>): Promise<number> =>
  withControl(given, async (control) =>
    show(body === undefined ? await control.request(addressOf(given) + path, { method }) : await post(control, addressOf(given) + path, body)),
  );

async function readWorldFile(file: string): Promise<string> {
  const body = await (file === "-" ? text(process.stdin) : readFile(file, "utf8")).catch((error: Error) => {
    throw new ConfigProblem("<file>", `${file} cannot be read: ${error.message}`);
  });
  if (body.trim() === "") throw new ConfigProblem("<file>", `${file === "-" ? "standard input" : file} is empty: name a world file`);
  return body;
}
