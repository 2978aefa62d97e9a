/** `plaza read-world-file`: reads one world file in YAML and ends. Only the server starts it (`src/graph/worlds/file/file-process.ts`). */
import type { FromFileReader, ToFileReader } from "#graph/worlds/file/file-process";
import { partsOfYaml } from "#graph/worlds/file/parts";
import { lineInYaml, WorldFileProblem } from "#graph/worlds/file/text";
import { type AskingServer, answerServer } from "./asked-by-server.ts";

export const readWorldFileForServer = (): Promise<number> =>
  answerServer("read-world-file", async (server: AskingServer<ToFileReader, FromFileReader>) => {
    const pieces: string[] = [];
    let question = await server.next();
    for (; question.kind === "text"; question = await server.answer({ kind: "received" })) pieces.push(question.text);
    const text = pieces.join("");
    // The server ends this process after its last message.
    if (question.kind === "line") await server.answer({ kind: "line", line: await lineInYaml(question.path, text) });
    else await server.answer(await allParts(text, server));
  });

async function allParts(text: string, server: AskingServer<ToFileReader, FromFileReader>): Promise<FromFileReader> {
  try {
    for await (const part of partsOfYaml(text)) await server.answer({ kind: "part", part });
    return { kind: "end" };
  } catch (error) {
    if (!(error instanceof WorldFileProblem)) throw error;
    const { problem, path, line } = error;
    return { kind: "problem", problem, path, line };
  }
}
