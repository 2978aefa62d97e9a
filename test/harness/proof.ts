/** Whether proofs make many tries: a few in every test run, and as many as it takes to believe the result under `npm run prove`. */
export const isProving = process.env.PLAZA_PROVE === "1";

export const tries = (inTests: number, inProofs: number): number => (isProving ? inProofs : inTests);
