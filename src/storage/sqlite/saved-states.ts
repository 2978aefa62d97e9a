/** The saved states of a world on SQLite. Each saved state is a file `snapshots/<world>/<name>.sqlite` below the folder with the world's file. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SavedState } from "../database.ts";
import { makeFolder, sync, syncFolder } from "../synced-folders.ts";
import type { Place } from "./place.ts";

/** The database whose state is saved. */
export interface StateSource {
  /** Writes the content of the database to a new file at the path. */
  saveInto(path: string): void;
}

const FILE = ".sqlite";

export const statesFolder = (folder: string, world: string): string => join(folder, "snapshots", world);

export class StateFiles {
  readonly #folder: string;
  readonly #isDurable: boolean;

  constructor({ folder, isDurable }: Pick<Place, "folder" | "isDurable">, world: string) {
    this.#folder = statesFolder(folder, world);
    this.#isDurable = isDurable;
  }

  /** Saves a state. At every moment either the old or the new saved state of this name exists. */
  save(name: string, source: StateSource): void {
    if (this.#isDurable) makeFolder(this.#folder);
    else mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const unfinished = `${this.#pathOf(name)}.new`;
    rmSync(unfinished, { force: true });
    source.saveInto(unfinished);
    if (this.#isDurable) sync(unfinished);
    renameSync(unfinished, this.#pathOf(name));
    if (this.#isDurable) syncFolder(this.#folder);
  }

  /** Calls `read` with the path of the saved state's file. The promise resolves with undefined if the saved state does not exist. */
  async use<T>(name: string, read: (path: string) => Promise<T>): Promise<T | undefined> {
    const path = this.#pathOf(name);
    return existsSync(path) ? read(path) : undefined;
  }

  list(): SavedState[] {
    if (!existsSync(this.#folder)) return [];
    const names = readdirSync(this.#folder).filter((file) => file.endsWith(FILE));
    return names.sort().map((file) => ({ name: file.slice(0, -FILE.length), saved_ms: Math.floor(statSync(join(this.#folder, file)).mtimeMs) }));
  }

  delete(name: string): boolean {
    const path = this.#pathOf(name);
    if (!existsSync(path)) return false;
    rmSync(path);
    return true;
  }

  #pathOf(name: string): string {
    return join(this.#folder, name + FILE);
  }
}
