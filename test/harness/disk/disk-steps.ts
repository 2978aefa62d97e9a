/**
 * Records the disk operations of a piece of code. Only a power failure would show that a file was not synced, so tests compare the order of the
 * operations.
 */
import { spyOn } from "bun:test";
import * as fs from "node:fs";
import { relative } from "node:path";

/**
 * Returns the syncs and renames in order, with paths relative to `folder`: `sync notes.new`, `notes.new is notes`, and `sync .` for the folder
 * itself. A file that is still open at the end is listed as `notes is open`.
 */
export async function diskSteps(folder: string, work: () => unknown): Promise<string[]> {
  const steps: string[] = [];
  const opened = new Map<number, string>();
  const named = (path: unknown): string => relative(folder, String(path)) || ".";
  const { openSync, closeSync, fsyncSync, renameSync, linkSync } = { ...fs };
  const spies = [
    spyOn(fs, "openSync").mockImplementation((path, ...how) => {
      const handle = openSync(path, ...how);
      opened.set(handle, named(path));
      return handle;
    }),
    spyOn(fs, "fsyncSync").mockImplementation((handle) => {
      fsyncSync(handle);
      steps.push(`sync ${opened.get(handle)}`);
    }),
    spyOn(fs, "closeSync").mockImplementation((handle) => {
      closeSync(handle);
      opened.delete(handle);
    }),
    spyOn(fs, "renameSync").mockImplementation((from, to) => {
      renameSync(from, to);
      steps.push(`${named(from)} is ${named(to)}`);
    }),
    spyOn(fs, "linkSync").mockImplementation((from, to) => {
      linkSync(from, to);
      steps.push(`${named(from)} is ${named(to)}`);
    }),
  ];
  try {
    await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return [...steps, ...[...opened.values()].map((path) => `${path} is open`)];
}
