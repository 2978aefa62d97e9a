/** The folder of the worlds' files: a data folder, which outlives the process, or a private one that ends with it (`:memory:`). */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../synced-folders.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { holdFolder } from "./folder-lock.ts";

export interface Place {
  readonly folder: string;
  /** Acknowledged writes are on the disk. */
  readonly isDurable: boolean;
  /** Takes the world, in a folder that is made if it is missing. Returns what releases it. Throws `FolderInUse`. */
  hold(world: string): () => void;
}

/** `data`: a folder, or `:memory:` for one of its own each time. */
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

/** Deleted with all that is in it as soon as none of its worlds is open. */
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
    // The next program tries again.
    const { folder, remove } = makeTemporaryFolder("memory", () => {});
    process.once("exit", remove);
    own = folder;
  }
  return own;
}
