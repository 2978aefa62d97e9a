/** Tells whether proofs make many tries: a few in every test run, and under `npm run prove` enough tries to believe the result. */
export const isProving = process.env.PLAZA_PROVE === "1";

export const tries = (inTests: number, inProofs: number): number => (isProving ? inProofs : inTests);
