/** Declares the external programs that a test starts. A test that imports a module with `needs(…)` runs only in `npm run test:all`. */
import { missing, type ProgramName, programs } from "#test-runs/programs";

/**
 * Declares needed programs; call it at the top of the module that starts them. `tools/test-runs/files.ts` reads this line, so that a run installs the
 * programs that its tests need. If a person runs a test without them, this call fails and says how to get the programs.
 */
export function needs(...names: readonly ProgramName[]): void {
  const [first] = missing(names);
  if (first !== undefined) throw new Error(`This test needs ${programs[first].title}: npm run test:all installs it, or ${programs[first].elsewhere}`);
}
