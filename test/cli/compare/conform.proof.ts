/**
 * Runs all conformance cases with the command, in both response profiles, and once more on a server that the cases were run on before. `npm test`
 * includes only one of these runs of the cases.
 */
import { afterEach, expect, test } from "bun:test";
import { endAll, startPlaza } from "../plaza-process.ts";
import { checkCases } from "./check-cases.ts";

afterEach(endAll);

for (const profile of ["strict", "clients"])
  test(`a server with profile ${profile} as it is started passes every case, twice in a row`, async () => {
    const { ready } = await startPlaza(["--data", ":memory:", "--rtmp-port", "0", "--profile", profile]);
    for (const run of [1, 2]) expect({ run, ...(await checkCases(ready, profile)) }).toEqual({ run, code: 0, failed: [], broken: [] });
  });
