/** Programs from outside that a test starts. What imports a module with `needs(…)` runs in `npm run test:all` alone. */
import { missing, type ProgramName, programs } from "#test-runs/programs";

/**
 * Stands at the top of the module that starts the programs. `tools/test-runs/files.ts` reads this line, so that a run installs the programs
 * that its tests need; a test that is run by hand fails here, with the way to get them.
 */
export function needs(...names: readonly ProgramName[]): void {
  const [first] = missing(names);
  if (first !== undefined) throw new Error(`This test needs ${programs[first].title}: npm run test:all installs it, or ${programs[first].elsewhere}`);
}
