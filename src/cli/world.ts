/** `plaza world new` and `plaza world import`: the commands that send a world file. */
import { ConfigProblem } from "#config/config";
import { ControlRefusal, resultOf } from "#control/client/requests";
import { EVENT_STREAM, readEvents } from "#control-contract/event-stream";
import { show } from "./ask-route.ts";
import { type Given, withOwnServer } from "./control-client.ts";
import { report } from "./process-end.ts";
import { readTextFile } from "./terminal/output.ts";
import { Progress } from "./terminal/progress.ts";

const MB = 1_000_000;

/** Merges a world file into the world, either completely or not at all. The file name `-` means standard input. */
export async function importWorld(file: string, given: Given): Promise<number> {
  let body: string;
  try {
    // The file is read before the data is opened, so that an unreadable file leaves no empty data behind.
    body = await readWorldFile("<file>", file);
  } catch (error) {
    return report(error);
  }
  const progress = new Progress("import");
  return withOwnServer(
    given,
    async ({ send, world }) => {
      // The number of entries in the world file is unknown until the server has read the file.
      progress.wait(`of ${(Buffer.byteLength(body) / MB).toFixed(1)} MB`);
      const headers = { "content-type": "text/plain", accept: EVENT_STREAM };
      const response = await send(`${world}/import`, { method: "POST", body, headers });
      const result = await resultAtItsEnd(response, (done, total) => progress.show(done, total, "entries")).finally(() => progress.end());
      return show(result, given);
    },
    { makesData: true },
  ).finally(() => progress.end());
}

export const newWorld = (name: string, file: string | undefined, given: Given): Promise<number> =>
  withOwnServer(
    given,
    async ({ request }) => {
      const loaded = file === undefined ? {} : { file: await readWorldFile("[file]", file) };
      const placed = given.database === undefined ? {} : { database: given.database };
      return show(await request("POST", "/v1/worlds", { name, ...loaded, ...placed }), given);
    },
    { makesData: true },
  );

type Result = Parameters<typeof show>[0];

/** Waits for the result of a long request, and calls `onProgress` meanwhile. Throws `ControlRefusal`. */
export async function resultAtItsEnd(response: Response, onProgress: (done: number, total: number) => void): Promise<Result> {
  // If the response is not a stream of events, the server refused the request or does not report progress.
  if (response.headers.get("content-type") !== EVENT_STREAM) return resultOf(response);
  for await (const { event, value } of readEvents<Result & { done: number; total: number; error?: { message: string } }>(response)) {
    if (event === "error") throw new ControlRefusal(value.error?.message ?? "the control API gave no reason");
    if (event !== "progress") return value;
    onProgress(value.done, value.total);
  }
  throw new Error("the server ended before it reported the result; plaza world export shows what is stored");
}

async function readWorldFile(named: string, file: string): Promise<string> {
  const body = await readTextFile(named, file);
  if (body.trim() === "") throw new ConfigProblem(named, `${file === "-" ? "standard input" : file} is empty: name a world file`);
  return body;
}
