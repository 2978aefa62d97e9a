/** How often a proof tries: a few times in every test run, as often as it takes to believe it under `npm run prove`. */
export const isProving = process.env.PLAZA_PROVE === "1";

export const tries = (inTests: number, inProofs: number): number => (isProving ? inProofs : inTests);
