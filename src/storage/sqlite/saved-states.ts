/** The saved states of a world, each a file of its own: beside the world's, or in memory where that is. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { SavedState } from "../database.ts";
import { makeFolder, syncFolder } from "../synced-folders.ts";

/** What is saved. */
export interface StateSource {
  /** Makes the file at a path that is free. */
  saveInto(path: string): void;
  /** Its bytes; undefined: they are too many. */
  content(): Uint8Array | undefined;
}

export interface SavedStates {
  save(name: string, source: StateSource): void;
  /** Undefined: there is no such state. */
  use<T>(name: string, read: (path: string) => Promise<T>): Promise<T | undefined>;
  list(): SavedState[];
  delete(name: string): boolean;
}

const FILE = ".sqlite";

export const statesFolder = (folder: string, world: string): string => join(folder, "snapshots", world);

export class StateFiles implements SavedStates {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** At every moment there is the old state or the new one. */
  save(name: string, source: StateSource): void {
    makeFolder(this.#folder);
    const unfinished = `${this.#pathOf(name)}.new`;
    rmSync(unfinished, { force: true });
    source.saveInto(unfinished);
    const file = openSync(unfinished, "r+");
    fsyncSync(file);
    closeSync(file);
    renameSync(unfinished, this.#pathOf(name));
    syncFolder(this.#folder);
  }

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

interface StateInMemory {
  readonly bytes: Uint8Array;
  readonly saved_ms: number;
}

/** A small world is half a megabyte, of which some 20 kB are left: most pages are those of an empty one. */
export class StatesInMemory implements SavedStates {
  readonly #states = new Map<string, StateInMemory>();

  save(name: string, source: StateSource): void {
    // A small one without a file: each test of a suite makes a world.
    const bytes = compressed(source.content() ?? contentOfFile(source));
    // The machine's clock, whose time a file has, too.
    this.#states.set(name, { bytes, saved_ms: Date.now() });
  }

  async use<T>(name: string, read: (path: string) => Promise<T>): Promise<T | undefined> {
    const state = this.#states.get(name);
    if (state === undefined) return undefined;
    const folder = temporaryFolder();
    const path = join(folder, "state.sqlite");
    try {
      writeFileSync(path, zstdDecompressSync(state.bytes), { mode: 0o600 });
      return await read(path);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  list(): SavedState[] {
    return [...this.#states].map(([name, { saved_ms }]) => ({ name, saved_ms })).sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  delete(name: string): boolean {
    return this.#states.delete(name);
  }
}

/** In memory of its own: what the compressor returns is part of a buffer as large as what it was given. */
export const compressed = (bytes: Uint8Array): Uint8Array => new Uint8Array(zstdCompressSync(bytes));

function contentOfFile(source: StateSource): Uint8Array {
  const folder = temporaryFolder();
  const path = join(folder, "state.sqlite");
  try {
    source.saveInto(path);
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "plaza-"));
