/**
 * The place of the database files, which is the folder with the files of the worlds: a data folder, which stays after the process has ended, or, for
 * `:memory:`, a private folder that the process deletes.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../synced-folders.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { holdFolder } from "./folder-lock.ts";

export interface Place {
  readonly folder: string;
  /** Whether each write is on the disk before the write is acknowledged. */
  readonly isDurable: boolean;
  /** Locks the world, and creates the folder if it does not exist. Returns a function that releases the world. Throws `FolderInUse`. */
  hold(world: string): () => void;
}

/** Returns the place for the folder `data`. For `:memory:` each call returns a new private folder. */
export const placeOf = (data: string): Place => (data === ":memory:" ? temporaryPlace() : folderPlace(data));

const folderPlace = (folder: string): Place => ({
  folder,
  isDurable: true,
  hold(world) {
    makeFolder(folder);
    return holdFolder(folder, world);
  },
});

let count = 0;

/** Makes a temporary folder that is deleted when its last world is closed. */
function temporaryPlace(): Place {
  const folder = join(folderOfProcess(), String(++count));
  let openWorlds = 0;
  return {
    folder,
    isDurable: false,
    hold() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      openWorlds++;
      return () => {
        if (--openWorlds === 0) rmSync(folder, { recursive: true, force: true });
      };
    },
  };
}

let own: string | undefined;

function folderOfProcess(): string {
  if (own === undefined) {
    // If this process cannot remove the folder, the next program tries to remove it.
    const { folder, remove } = makeTemporaryFolder("memory", () => {});
    process.once("exit", remove);
    own = folder;
  }
  return own;
}
