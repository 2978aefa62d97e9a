/**
 * D-352: reads secrets from files, because containers and service managers provide secrets as files. For example, `PLAZA_CONTROL_KEY_FILE` is the
 * path of the file with the value of `PLAZA_CONTROL_KEY`.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { ConfigProblem } from "./config.ts";
import { environment, type Option, variableOf } from "./option.ts";
import { own } from "./options.ts";

const options: readonly [name: string, option: Omit<Option, "name">][] = Object.entries(own);
/** The variables whose values may be in a file. */
const IN_FILES = options.filter(([, { isSecret, holdsSecret }]) => isSecret === true || holdsSecret === true).map(([name]) => variableOf(name));

const fileVariableOf = (variable: string): string => `${variable}_FILE`;

export const FILE_VARIABLES: readonly string[] = IN_FILES.map(fileVariableOf);

/**
 * The greatest number of bytes that are read from a file. The secrets, which are keys and addresses, are shorter than this limit; the limit exists
 * because reading a device file would never end.
 */
const BYTES_MAX = 65_536;

/** Returns the environment with the secrets that are in files. Throws `ConfigProblem` if a file cannot be read. */
export function environmentWithSecrets(given = environment()): Readonly<Record<string, string | undefined>> {
  const read: Record<string, string> = {};
  for (const variable of IN_FILES) {
    const file = given[fileVariableOf(variable)];
    if (file === undefined || file === "") continue;
    if ((given[variable] ?? "") !== "")
      throw new ConfigProblem(fileVariableOf(variable), `cannot be set together with ${variable}; remove one of them`);
    read[variable] = secretIn(file, fileVariableOf(variable));
  }
  return { ...given, ...read };
}

/** Reads the secret from a file. A line break at the end of the file does not belong to the secret, because editors add this line break. */
function secretIn(file: string, variable: string): string {
  const bytes = Buffer.alloc(BYTES_MAX + 1);
  let length = 0;
  try {
    const descriptor = openSync(file, "r");
    try {
      for (let count = -1; count !== 0 && length < bytes.length; length += count)
        count = readSync(descriptor, bytes, length, bytes.length - length, null);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new ConfigProblem(variable, `${file} cannot be read: ${(error as Error).message}`);
  }
  if (length > BYTES_MAX) throw new ConfigProblem(variable, `${file} has more than ${BYTES_MAX} bytes; name a file that holds only the secret`);
  const text = bytes.toString("utf8", 0, length);
  let end = text.length;
  while (text[end - 1] === "\n" || text[end - 1] === "\r") end--;
  const secret = text.slice(0, end);
  if (secret === "") throw new ConfigProblem(variable, `${file} is empty; write the secret into it`);
  return secret;
}
