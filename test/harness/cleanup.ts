/** Closes everything that a test opened. Hooks of a module would run only for the first file, so `preload.ts` has the hook. */
const cleanups: (() => unknown)[] = [];

/** Runs after the test in which it was called, last first. */
export const afterThisTest = (cleanup: () => unknown): void => void cleanups.push(cleanup);

export async function runCleanups(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}
