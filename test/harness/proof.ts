/** How often a proof tries: a few times in every test run, many times with `npm run prove`. */
const isProving = process.env.PLAZA_PROVE === "1";

/** E.g. `tries(3, 20)` kills of the server. */
export const tries = (inTests: number, inProof: number): number => (isProving ? inProof : inTests);
