import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { ConfigProblem } from "#config/config";

/** The text of a file that an argument or option names; `-` is standard input. Throws `ConfigProblem`. */
export async function readTextFile(named: string, file: string): Promise<string> {
  try {
    return file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    throw new ConfigProblem(named, `${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
