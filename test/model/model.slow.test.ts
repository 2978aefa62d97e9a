/** Plays more histories than `npm test`, on each database. 100 histories reach nearly every rule; a proof plays 5,000 others. */
import { databaseKinds } from "#harness/databases";
import { tries } from "#harness/proof";
import { testHistories } from "./play-histories.ts";

for (const kind of databaseKinds) testHistories(kind, { histories: tries(100, 5_000), reachesAll: true });
