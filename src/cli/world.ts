/** `plaza world …`. */
import { ConfigProblem } from "#config/config";
import { type Control, type Given, listAll, post, show, showAtItsEnd, withControl } from "./control-or-data.ts";
import { exitCodeOf } from "./process-end.ts";
import { fail, readTextFile } from "./terminal/output.ts";
import { Progress } from "./terminal/progress.ts";

const MB = 1_000_000;

const addressOf = ({ world_name }: Given): string => `/v1/worlds/${encodeURIComponent(String(world_name))}`;

export const listWorlds = (given: Given): Promise<number> => withControl(given, (control) => listAll(control, "/v1/worlds"));

/** Prints the world's file. */
export const exportWorld = (given: Given): Promise<number> =>
  withControl(given, async (control) =>
    show(await control.request(`${addressOf(given)}/export${given.secrets === true ? "?secrets=true" : ""}`, { method: "GET" })),
  );

/** Merges a world file into the world, whole or not at all; `-` is standard input. */
export async function importWorld(file: string, given: Given): Promise<number> {
  let body: string;
  try {
    // Before the data is opened: a file that cannot be read shall leave no empty data behind.
    body = await readWorldFile("<file>", file);
  } catch (error) {
    return fail((error as Error).message, exitCodeOf(error));
  }
  const progress = new Progress("import");
  const run = async (control: Control): Promise<number> => {
    // Until the file is read, nobody knows how many entries it has.
    progress.wait(`of ${(Buffer.byteLength(body) / MB).toFixed(1)} MB`);
    const headers = { "content-type": "text/plain", accept: "text/event-stream" };
    const response = await control.request(`${addressOf(given)}/import`, { method: "POST", body, headers });
    return showAtItsEnd(
      response,
      (done, total) => progress.show(done, total, "entries"),
      () => progress.end(),
    );
  };
  return withControl(given, run, { makesData: true }).finally(() => progress.end());
}

export function newWorld(name: string, file: string | undefined, given: Given): Promise<number> {
  const run = async (control: Control): Promise<number> =>
    show(await post(control, "/v1/worlds", file === undefined ? { name } : { name, file: await readWorldFile("[file]", file) }));
  return withControl(given, run, { makesData: true });
}

/** `path` is below the world. */
export const changeWorld = (method: string, path: string, given: Given, body?: Record<string, unknown>): Promise<number> =>
  withControl(given, async (control) =>
    show(body === undefined ? await control.request(addressOf(given) + path, { method }) : await post(control, addressOf(given) + path, body)),
  );

async function readWorldFile(named: string, file: string): Promise<string> {
  const body = await readTextFile(named, file);
  if (body.trim() === "") throw new ConfigProblem(named, `${file === "-" ? "standard input" : file} is empty: name a world file`);
  return body;
}
