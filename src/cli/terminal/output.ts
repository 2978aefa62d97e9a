import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { ConfigProblem } from "#config/config";
import { hideDatabasePasswords } from "#kernel/redaction/addresses";

/** Commands print results on stdout and everything else on stderr. */

export const FAILED = 1;
/** The exit code of a command that was used wrongly. A command with this exit code has changed nothing. */
export const WRONG_USE = 2;

export const say = (line: string): void => void process.stdout.write(`${line}\n`);
/** Prints a line on stderr without database passwords: a message may repeat an option that contains the address of a database. */
export const note = (line: string): void => void process.stderr.write(`${hideDatabasePasswords(line)}\n`);

/** Prints one line on stderr, and returns the exit code. */
export function fail(message: string, code: number = FAILED): number {
  note(`plaza: ${message}`);
  return code;
}

/** Escapes the control characters in text from other programs, because a terminal would interpret them. */
export const printable = (text: string): string =>
  text.replace(/\p{Cc}/gu, (unit) => `\\u${(unit.codePointAt(0) as number).toString(16).padStart(4, "0")}`);

/** Writes JSON as text for people. Each value of the JSON has a line that begins with the path of the value. */
export function linesOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [path === "" ? String(value) : `${path}: ${value}`];
  const entries = Object.entries(value);
  if (entries.length === 0) return path === "" ? [] : [`${path}: ${Array.isArray(value) ? "[]" : "{}"}`];
  if (Array.isArray(value) && value.every((one) => typeof one !== "object" || one === null))
    return [`${path === "" ? "" : `${path}: `}${value.join(", ")}`];
  return entries.flatMap(([key, inner]) => linesOf(inner, path === "" ? key : Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`));
}

/** Reads the file that an argument or option gives; `-` is standard input. Throws `ConfigProblem`. */
export async function readTextFile(named: string, file: string): Promise<string> {
  try {
    return file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    throw new ConfigProblem(named, `${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
