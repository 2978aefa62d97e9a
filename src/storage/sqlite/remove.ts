/** Deletes the files of a world that nothing has open. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { statesFolder } from "./saved-states.ts";

/** What is in memory leaves nothing. */
export function removeSqlite(folder: string, world: string): void {
  if (folder === ":memory:") return;
  // A log without its file is harmless (`placeFile`); a file without its log would lack what was written last.
  for (const suffix of ["", "-wal", "-shm"]) rmSync(join(folder, `${world}.sqlite${suffix}`), { force: true });
  rmSync(statesFolder(folder, world), { recursive: true, force: true });
}
