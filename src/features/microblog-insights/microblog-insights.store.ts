import { ownedNodeTable } from "#graph/worlds/nodes.store";
import type { NodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";
import { addToSums, deleteSums } from "./insight-sums.store.ts";
import { breakdowns } from "./microblog-insights.metrics.ts";

export const microblogInsightMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE microblog_media (owner BIGINT NOT NULL, id BIGINT NOT NULL, text TEXT NOT NULL, timestamp BIGINT NOT NULL, PRIMARY KEY (owner, id)) WITHOUT ROWID",
      `CREATE TABLE follower_groups (microblog_user BIGINT NOT NULL, time BIGINT NOT NULL, country TEXT NOT NULL, city TEXT NOT NULL, age TEXT NOT NULL,
        gender TEXT NOT NULL, value BIGINT NOT NULL, PRIMARY KEY (microblog_user, time, country, city, age, gender)) WITHOUT ROWID`,
      // D-54: counts are summed by second, minute, hour, day and longer spans, so that counting in any range reads at most a few hundred rows.
      `CREATE TABLE insight_sums (target BIGINT NOT NULL, metric TEXT NOT NULL, span INTEGER NOT NULL, start BIGINT NOT NULL, label TEXT NOT NULL,
        value BIGINT NOT NULL, PRIMARY KEY (target, metric, span, start, label)) WITHOUT ROWID`,
    ],
  },
];

export interface MediaRow extends Row {
  owner: string;
  id: string;
  text: string;
  timestamp: number;
}

export interface FollowerRow extends Row {
  microblog_user: string;
  time: number;
  country: string;
  city: string;
  age: string;
  gender: string;
  value: number;
}

export async function recordFollowers(tx: Transaction, group: FollowerRow): Promise<void> {
  const { microblog_user, time, country, city, age, gender, value } = group;
  await tx.runOne(sql`
    INSERT INTO follower_groups (microblog_user, time, country, city, age, gender, value)
    VALUES (${microblog_user}, ${time}, ${country}, ${city}, ${age}, ${gender}, ${value})
    ON CONFLICT (microblog_user, time, country, city, age, gender) DO UPDATE SET value = follower_groups.value + excluded.value`);
  await addToSums(tx, { target: microblog_user, metric: "followers_count", start: time, label: "", value });
  for (const dimension of breakdowns) {
    if (group[dimension] !== "") await addToSums(tx, { target: microblog_user, metric: dimension, start: time, label: group[dimension], value });
  }
}

export const mediaTable = ownedNodeTable<MediaRow>({
  table: "microblog_media",
  nodeType: "microblog_media",
  owner: "owner",
  columns: ["text", "timestamp"],
});

export async function deleteMedia(tx: Transaction, owner: NodeId, id: string): Promise<boolean> {
  if (!(await mediaTable.remove(tx, owner, id))) return false;
  await deleteSums(tx, id);
  return true;
}

export async function deleteAllOfUser(tx: Transaction, user: NodeId): Promise<void> {
  const media = await tx.all<{ id: string }>(sql`SELECT CAST(m.id AS TEXT) AS id FROM microblog_media m WHERE m.owner = ${user}`);
  for (const { id } of media) await deleteMedia(tx, user, id);
  await deleteSums(tx, user);
  await tx.run(sql`DELETE FROM follower_groups WHERE microblog_user = ${user}`);
}

const followerOrder = ordered("ascending", "f.microblog_user", "f.time", "f.country", "f.city", "f.age", "f.gender");

export function listAllFollowers(reader: Reader, page: PageRequest): Promise<ListPage<FollowerRow>> {
  return readPage<FollowerRow>(
    reader,
    sql`
    SELECT CAST(f.microblog_user AS TEXT) AS microblog_user, f.time, f.country, f.city, f.age, f.gender, f.value FROM follower_groups f
    WHERE f.microblog_user > 0`,
    followerOrder,
    page,
  );
}
