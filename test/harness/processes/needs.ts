/** External programs that a test starts. A test that imports a module with `needs(…)` runs only in `npm run test:all`. */
import { missing, type ProgramName, programs } from "#test-runs/programs";

/**
 * Belongs at the top of the module that starts the programs. `tools/test-runs/files.ts` reads this line, so that a run installs the programs
 * that its tests need; a test that is run by hand fails here, with the way to get them.
 */
export function needs(...names: readonly ProgramName[]): void {
  const [first] = missing(names);
  if (first !== undefined) throw new Error(`This test needs ${programs[first].title}: npm run test:all installs it, or ${programs[first].elsewhere}`);
}
