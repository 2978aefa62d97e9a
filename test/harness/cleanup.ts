/**
 * Closes everything that a test opened. The `afterEach` hook is in `preload.ts`, because the hooks of another module would run only for the first
 * test file.
 */
const cleanups: (() => unknown)[] = [];

/** Registers a function to run after the current test. The registered functions run in reverse order. */
export const afterThisTest = (cleanup: () => unknown): void => void cleanups.push(cleanup);

export async function runCleanups(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}
