/** Declares the external programs that a test starts. A test that imports a module with `needs(…)` runs only in `npm run test:all`. */
import { missing, type ProgramName, programs } from "#test-runs/programs";

/**
 * Declares the programs that a module needs; the module that starts them calls it at its top. `tools/test-runs/files.ts` reads this line, so that a
 * run installs the programs that its tests need. If a person runs a test without the needed programs, this call fails and says how to install them.
 */
export function needs(...names: readonly ProgramName[]): void {
  const [first] = missing(names);
  if (first !== undefined) throw new Error(`This test needs ${programs[first].title}: npm run test:all installs it, or ${programs[first].elsewhere}`);
}
