/**
 * Shows whether the times of responses tell a hidden node from a missing one (D-336): somebody who has learned both times guesses which one he asks
 * for, by the median of 15 requests. Half of the guesses are right by chance. The work is compared exactly in test/graph/hidden-nodes.test.ts.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { startServer, temporaryFolder, worldFile } from "#harness/server";

const SAMPLES = 15;
/** The number of guesses for hidden nodes, and for missing nodes. The guesser learns the same number of medians before it guesses. */
const GUESSES = 100;

const world = {
  apps: [
    { id: "1001", name: "Shop" },
    { id: "1002", name: "Other" },
  ],
  users: [{ id: "3001", name: "Bo" }],
  pages: [
    { id: "2001", name: "Cafe" },
    { id: "2003", name: "Inn" },
  ],
  live_videos: [{ id: "5301", page: "2001", status: "LIVE" }],
  chatapp_accounts: [{ id: "4001", name: "Chat", subscribed_apps: [{ app: "1002" }] }],
  migration_intents: [{ id: "4801", waba: "4001", status: "INITIATED" }],
  tokens: [
    { token: "page", type: "page", app: "1001", page: "2003", scopes: ["pages_manage_posts", "pages_read_engagement"] },
    { token: "person", type: "user", app: "1001", user: "3001", scopes: ["chatapp_business_management"] },
  ],
};

const medianOf = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

/** The fraction of guesses that are right if the guesser uses the threshold and direction that fit the learned medians best. */
function rightGuesses(learned: readonly Medians[], asked: readonly Medians[]): number {
  const right = (all: readonly Medians[], limit: number, isSlower: boolean): number =>
    all.reduce((sum, { hidden, missing }) => sum + Number(hidden > limit === isSlower) + Number(missing > limit !== isSlower), 0) / (2 * all.length);
  const limits = learned.flatMap(({ hidden, missing }) => [hidden, missing]);
  const rules = limits.flatMap((limit) => [true, false].map((isSlower) => ({ limit, isSlower, part: right(learned, limit, isSlower) })));
  const best = rules.reduce((one, other) => (other.part > one.part ? other : one));
  return right(asked, best.limit, best.isSlower);
}

interface Medians {
  readonly hidden: number;
  readonly missing: number;
}

onEachDatabase("the times of hidden and missing nodes", (database) => {
  test("are shown", async () => {
    const data = database === "sqlite" ? temporaryFolder() : await (await sharedPostgres()).newDatabase();
    const server = await startServer(["--data", data, "--world", worldFile(world)]);
    const lines: string[] = [];
    for (const { what, id, missingId, token } of [
      { what: "a live video", id: "5301", missingId: "5309", token: "page" },
      { what: "an intent", id: "4801", missingId: "4809", token: "person" },
    ]) {
      const statuses = new Set<number>();
      const ask = async (node: string): Promise<number> => {
        const beganMs = performance.now();
        const response = await fetch(`${server.base_url}/v25.0/${node}`, { headers: { authorization: `Bearer ${token}` } });
        await response.arrayBuffer();
        statuses.add(response.status);
        return performance.now() - beganMs;
      };
      for (let count = 0; count < 1_000; count++) await ask(count % 2 === 0 ? id : missingId);
      const medians: Medians[] = [];
      while (medians.length < 2 * GUESSES) {
        const [hidden, missing]: [number[], number[]] = [[], []];
        for (let count = 0; count < SAMPLES; count++) {
          hidden.push(await ask(id));
          missing.push(await ask(missingId));
        }
        medians.push({ hidden: medianOf(hidden), missing: medianOf(missing) });
      }
      const part = rightGuesses(medians.slice(0, GUESSES), medians.slice(GUESSES));
      const us = (values: readonly number[]): string => `${(1_000 * medianOf(values)).toFixed(0)} µs`;
      lines.push(
        `| ${database} | ${what} | ${us(medians.map(({ hidden }) => hidden))} | ${us(medians.map(({ missing }) => missing))} | ${(100 * part).toFixed(0)} % |`,
      );
      expect(statuses.size).toBe(1);
    }
    console.log(["| database | node | hidden | missing | right guesses |", "| --- | --- | --- | --- | --- |", ...lines].join("\n"));
  });
});
