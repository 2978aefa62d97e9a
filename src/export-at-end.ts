/** The option `--export`: when the server ends, the server writes the content of the first world to a world file. */
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Config, ConfigProblem } from "#config/config";
import type { Registry } from "#graph/contract/registry";
import { type ExportOptions, exportWorld } from "#graph/worlds/file/import-export";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import type { OpenWorld } from "#graph/worlds/open-world";
import { replaceFile } from "#storage/synced-folders";

/**
 * Checks when the server starts that the export can be written, because an error when the server ends would come too late. Throws `ConfigProblem`.
 */
export async function requireExportPlace({ export: file, world }: Config): Promise<void> {
  if (file === undefined) return;
  if (world !== undefined && resolve(world) === resolve(file))
    throw new ConfigProblem("--export", `${file} is the file of --world, whose comments and tokens would be lost; name another file`);
  const isFolder = await stat(dirname(resolve(file))).then(
    (folder) => folder.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new ConfigProblem("--export", `there is no folder ${dirname(file)}`);
}

/** Writes the first world to the export file if one is set, and then closes all worlds. */
export async function closeExported(worlds: Worlds, registry: Registry, { export: file, export_secrets }: Config): Promise<void> {
  try {
    if (file !== undefined) await writeExport(worlds.default, registry, file, { secrets: export_secrets });
  } finally {
    await worlds.close();
  }
}

async function writeExport(world: OpenWorld, registry: Registry, file: string, options: ExportOptions): Promise<void> {
  try {
    replaceFile(file, `${JSON.stringify(await exportWorld(world, registry, options), undefined, 2)}\n`);
  } catch (error) {
    throw new Error(`the world could not be written to ${file}: ${(error as Error).message}`, { cause: error });
  }
}
