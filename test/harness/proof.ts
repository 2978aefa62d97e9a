/** How often a proof tries: a few times in every test run, as often as it takes to believe it under `npm run prove`. */
export const isProving = process.env.PLAZA_PROVE === "1";

/** Whether a test that needs this program is skipped: never in CI. */
export const isMissing = (program: string): boolean => process.env.CI === undefined && Bun.which(program) === null;

export const tries = (inTests: number, inProofs: number): number => (isProving ? inProofs : inTests);
