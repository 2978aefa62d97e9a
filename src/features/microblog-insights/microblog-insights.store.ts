import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { eitherWay } from "#storage/outcomes";
import { type Row, sql } from "#storage/sql";
import { type Breakdown, breakdowns } from "./microblog-insights.metrics.ts";

export interface MediaRow extends Row {
  owner: string;
  id: string;
  text: string;
  timestamp: number;
}

export interface DayRow extends Row {
  target: string;
  metric: string;
  day: number;
  value: number;
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

/** Adds an activity to its day and to the total; a click also to its link and day. */
export async function recordActivity(
  tx: Transaction,
  target: string,
  metric: string,
  day: number,
  value: number,
  linkUrl: string | undefined,
): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO insight_days (target, metric, day, value) VALUES (${target}, ${metric}, ${day}, ${value})
    ON CONFLICT (target, metric, day) DO UPDATE SET value = insight_days.value + excluded.value`);
  await tx.runOne(sql`
    INSERT INTO insight_totals (target, metric, value) VALUES (${target}, ${metric}, ${value})
    ON CONFLICT (target, metric) DO UPDATE SET value = insight_totals.value + excluded.value`);
  if (linkUrl === undefined) return;
  await tx.runOne(sql`
    INSERT INTO insight_links (target, day, link_url, value) VALUES (${target}, ${day}, ${linkUrl}, ${value})
    ON CONFLICT (target, day, link_url) DO UPDATE SET value = insight_links.value + excluded.value`);
}

export async function recordFollowers(tx: Transaction, group: FollowerRow): Promise<void> {
  const { microblog_user, time, country, city, age, gender, value } = group;
  await tx.runOne(sql`
    INSERT INTO follower_groups (microblog_user, time, country, city, age, gender, value)
    VALUES (${microblog_user}, ${time}, ${country}, ${city}, ${age}, ${gender}, ${value})
    ON CONFLICT (microblog_user, time, country, city, age, gender) DO UPDATE SET value = follower_groups.value + excluded.value`);
  await tx.runOne(sql`
    INSERT INTO insight_totals (target, metric, value) VALUES (${microblog_user}, 'followers_count', ${value})
    ON CONFLICT (target, metric) DO UPDATE SET value = insight_totals.value + excluded.value`);
  for (const dimension of breakdowns) {
    if (group[dimension] === "") continue;
    await tx.runOne(sql`
      INSERT INTO follower_demographics (microblog_user, dimension, dimension_value, value)
      VALUES (${microblog_user}, ${dimension}, ${group[dimension]}, ${value})
      ON CONFLICT (microblog_user, dimension, dimension_value) DO UPDATE SET value = follower_demographics.value + excluded.value`);
  }
}

export async function readTotals(reader: Reader, target: NodeId): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.all<{ metric: string; value: number }>(sql`SELECT t.metric, t.value FROM insight_totals t WHERE t.target = ${target}`);
  return new Map(rows.map(({ metric, value }) => [metric, value]));
}

/** The days of a metric from `first` to `last`, both included; days without activity have no row. */
export function listDays(reader: Reader, target: NodeId, metric: string, first: number, last: number): Promise<{ day: number; value: number }[]> {
  return reader.all(sql`
    SELECT d.day, d.value FROM insight_days d
    WHERE d.target = ${target} AND d.metric = ${metric} AND d.day BETWEEN ${first} AND ${last} ORDER BY d.day`);
}

export function listLinks(reader: Reader, target: NodeId, first: number, last: number): Promise<{ link_url: string; value: number }[]> {
  return reader.all(sql`
    SELECT l.link_url, CAST(SUM(l.value) AS BIGINT) AS value FROM insight_links l
    WHERE l.target = ${target} AND l.day BETWEEN ${first} AND ${last} GROUP BY l.link_url ORDER BY l.link_url`);
}

export function listDemographics(reader: Reader, user: NodeId, dimension: Breakdown): Promise<{ dimension_value: string; value: number }[]> {
  return reader.all(sql`
    SELECT f.dimension_value, f.value FROM follower_demographics f
    WHERE f.microblog_user = ${user} AND f.dimension = ${dimension} ORDER BY f.value DESC, f.dimension_value`);
}

/** Returns whether the id was free. */
export async function insertMedia(tx: Transaction, media: MediaRow): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(media.id), type: "microblog_media", owner: nodeId(media.owner) }))) return false;
  await tx.runOne(
    sql`INSERT INTO microblog_media (owner, id, text, timestamp) VALUES (${media.owner}, ${media.id}, ${media.text}, ${media.timestamp})`,
  );
  return true;
}

export async function updateMedia(tx: Transaction, { owner, id, text, timestamp }: MediaRow): Promise<void> {
  await tx.runOne(sql`UPDATE microblog_media SET text = ${text}, timestamp = ${timestamp} WHERE owner = ${owner} AND id = ${id}`);
}

export function findMedia(reader: Reader, owner: NodeId, id: string): Promise<MediaRow | undefined> {
  return reader.get<MediaRow>(sql`
    SELECT CAST(m.owner AS TEXT) AS owner, CAST(m.id AS TEXT) AS id, m.text, m.timestamp FROM microblog_media m
    WHERE m.owner = ${owner} AND m.id = ${id}`);
}

const mediaOrder = { columns: ["m.owner", "m.id"], direction: "ascending", keyOf: (row: MediaRow) => [row.owner, row.id] } as const;

export function listAllMedia(reader: Reader, page: PageRequest): Promise<ListPage<MediaRow>> {
  return readPage<MediaRow>(
    reader,
    sql`SELECT CAST(m.owner AS TEXT) AS owner, CAST(m.id AS TEXT) AS id, m.text, m.timestamp FROM microblog_media m WHERE m.owner > 0`,
    mediaOrder,
    page,
  );
}

export async function deleteMedia(tx: Transaction, owner: NodeId, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM microblog_media WHERE owner = ${owner} AND id = ${id}`)) === 0) return false;
  await deleteInsights(tx, id);
  await deleteNode(tx, nodeId(id));
  return true;
}

async function deleteInsights(tx: Transaction, target: string): Promise<void> {
  await tx.runAny(sql`DELETE FROM insight_days WHERE target = ${target}`);
  await tx.runAny(sql`DELETE FROM insight_totals WHERE target = ${target}`);
  await tx.runAny(sql`DELETE FROM insight_links WHERE target = ${target}`);
}

export async function deleteAllOfUser(tx: Transaction, user: NodeId): Promise<void> {
  const media = await tx.all<{ id: string }>(sql`SELECT CAST(m.id AS TEXT) AS id FROM microblog_media m WHERE m.owner = ${user}`);
  for (const { id } of media) await eitherWay(deleteMedia(tx, user, id));
  await deleteInsights(tx, user);
  await tx.runAny(sql`DELETE FROM follower_groups WHERE microblog_user = ${user}`);
  await tx.runAny(sql`DELETE FROM follower_demographics WHERE microblog_user = ${user}`);
}

const dayOrder = {
  columns: ["d.target", "d.metric", "d.day"],
  direction: "ascending",
  keyOf: (row: DayRow) => [row.target, row.metric, String(row.day)],
} as const;

export function listAllDays(reader: Reader, page: PageRequest): Promise<ListPage<DayRow>> {
  return readPage<DayRow>(
    reader,
    sql`SELECT CAST(d.target AS TEXT) AS target, d.metric, d.day, d.value FROM insight_days d WHERE d.target > 0`,
    dayOrder,
    page,
  );
}

/** The clicked links of a day. */
export function listLinksOfDay(reader: Reader, target: string, day: number): Promise<{ link_url: string; value: number }[]> {
  return reader.all(sql`SELECT l.link_url, l.value FROM insight_links l WHERE l.target = ${target} AND l.day = ${day} ORDER BY l.link_url`);
}

const followerOrder = {
  columns: ["f.microblog_user", "f.time", "f.country", "f.city", "f.age", "f.gender"],
  direction: "ascending",
  keyOf: (row: FollowerRow) => [row.microblog_user, String(row.time), row.country, row.city, row.age, row.gender],
} as const;

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
