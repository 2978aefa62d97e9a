/** `plaza backup`: copies a data folder to another folder. A server may use the data while the command copies it. */
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Config, ConfigProblem } from "#config/config";
import { readConfigOfCommand } from "#config/config-file";
import { settings } from "#features";
import { isBucket } from "#recordings/recording-store";
import { backUpWorlds, hasData } from "#storage/open";
import { copyFolder, makeFolder } from "#storage/synced-folders";
import type { Given } from "../control-client.ts";
import { report } from "../process-end.ts";
import { fail, note, say } from "../terminal/output.ts";

const WORLD = "default";
const SNAPSHOTS = "snapshots";
const RECORDINGS = "recordings";

/**
 * Makes the backup and resolves with the exit code. The backup does not contain the keys, because a thief with data and keys could read everything.
 */
export async function backup(to: string, given: Given): Promise<number> {
  try {
    const config = await readConfigOfCommand(given, settings);
    requireFolder(config);
    requireEmpty(to);
    makeFolder(to);
    await backUpWorlds(config.data, to);
    for (const file of readdirSync(to)) chmodSync(join(to, file), 0o600);
    // The recordings and snapshots are copied after the databases, because a copied database then refers only to files that exist.
    copyIfThere(join(config.data, SNAPSHOTS), join(to, SNAPSHOTS));
    if (given.recordings !== false) copyIfThere(config.recordings ?? join(config.data, RECORDINGS), join(to, RECORDINGS));
    say(given.json === true ? JSON.stringify({ from: config.data, to: resolve(to) }) : `${config.data} is copied to ${resolve(to)}`);
    if (config.recordings !== undefined && isBucket(config.recordings)) note("the recordings are in a bucket and are not copied");
    note(`the secret key is not in the copy: keep ${join(config.data, "secret.key")}, or PLAZA_SECRET_KEY, in another place`);
    return 0;
  } catch (error) {
    return error instanceof Error && "code" in error ? fail(`the data cannot be copied: ${error.message}`) : report(error);
  }
}

function requireFolder({ data }: Config): void {
  if (data.startsWith("postgres")) throw new ConfigProblem("--data", "is PostgreSQL: back it up with pg_dump, see docs/operating/postgresql.md");
  if (data === ":memory:" || !hasData(data, WORLD)) throw new ConfigProblem("--data", `there is no data in ${data}`);
}

function requireEmpty(to: string): void {
  if (existsSync(to) && readdirSync(to).length > 0) throw new ConfigProblem("<folder>", `${to} is not empty`);
}

function copyIfThere(from: string, to: string): void {
  if (existsSync(from)) copyFolder(from, to);
}
