/**
 * Plays more histories than `npm test`, on each database. 100 histories reach nearly every rule; a proof plays 5,000 others. On PostgreSQL, which
 * takes longer, fewer histories are played, because the server follows the same rules on both databases.
 */
import { databaseKinds } from "#harness/databases";
import { tries } from "#harness/proof";
import { testHistories } from "./play-histories.ts";

for (const kind of databaseKinds) testHistories(kind, { histories: tries(kind === "sqlite" ? 100 : 15, 5_000), reachesAll: kind === "sqlite" });
