/**
 * Checks groups of writes on a connection without a database around it: what a group that ran twice announces, and the state after a failed commit.
 */
import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { DatabaseHealth } from "../database-health.ts";
import { sql } from "../sql.ts";
import { Connection } from "./connection.ts";
import { WriteQueue } from "./write-queue.ts";

function newQueue() {
  const connection = Connection.open(":memory:", { role: "writer", isDurable: false });
  afterThisTest(() => connection.close());
  connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)");
  const facts: string[] = [];
  const commits: number[] = [];
  let failures = 0;
  const queue = new WriteQueue(connection, {
    beforeCommit: () => {
      if (failures > 0) {
        failures--;
        throw new Error("the disk is full");
      }
    },
    onFact: (kind, key) => facts.push(`${kind} ${key}`),
    ...{ health: new DatabaseHealth(), beforeGroup() {}, afterGroup() {} },
    onCommit: (writes) => commits.push(writes),
  });
  return {
    ...{ queue, facts, commits },
    failCommits: (count: number) => {
      failures = count;
    },
    stored: () => connection.all<{ id: number }>(sql`SELECT n.id FROM notes n ORDER BY n.id`).map(({ id }) => id),
  };
}

const insert = (id: number) => sql`INSERT INTO notes (id) VALUES (${id})`;

test("a body's announcements happen once, even if its group ran again because another body threw", async () => {
  const { queue, facts, commits, stored } = newQueue();
  const happened: number[] = [];
  const write = (id: number, isRefused = false) =>
    queue.write(async (tx) => {
      await tx.run(insert(id));
      tx.invalidate("note", String(id));
      tx.afterCommit(() => happened.push(id));
      if (isRefused) throw new Error("refused");
      return id;
    });
  const results = await Promise.allSettled([write(1), write(2), write(3, true), write(4)]);
  expect(results.map((result) => (result.status === "fulfilled" ? result.value : String(result.reason)))).toEqual([1, 2, "Error: refused", 4]);
  expect({ happened, facts, commits, stored: stored() }).toEqual({
    happened: [1, 2, 4],
    facts: ["note 1", "note 2", "note 4"],
    commits: [4],
    stored: [1, 2, 4],
  });
});

test("a failed commit leaves no transaction behind: its writes are refused and undone, and the next ones are stored", async () => {
  const { queue, facts, commits, failCommits, stored } = newQueue();
  const happened: number[] = [];
  const write = (id: number) =>
    queue.write(async (tx) => {
      await tx.run(insert(id));
      tx.invalidate("note", String(id));
      tx.afterCommit(() => happened.push(id));
    });
  failCommits(1);
  const results = await Promise.allSettled([write(1), write(2)]);
  expect(results).toMatchObject([1, 2].map(() => ({ status: "rejected", reason: { cause: { message: "the disk is full" } } })));
  expect(stored()).toEqual([]);
  await write(3);
  expect({ happened, facts, commits, stored: stored() }).toEqual({ happened: [3], facts: ["note 3"], commits: [1], stored: [3] });
});
