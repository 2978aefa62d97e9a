/** Stores ads and their touches. A touch is a click on an ad or an impression of an ad. */
import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, type Sql, sql } from "#storage/sql";
import { isDevice } from "../intake/parse-request.ts";
import { allInList } from "../log/rows.store.ts";
import type { Ad, Touch } from "./rule.ts";

interface AdRow extends Row {
  id: string;
  app: string;
  campaign_id: string;
  objective: string;
  tracked_apps: string;
}

const adOf = ({ tracked_apps, ...row }: AdRow): Ad => ({ ...row, tracked_apps: JSON.parse(tracked_apps) as string[] });

const selectAds = (least: string, most: string): Sql => sql`
  SELECT CAST(a.id AS TEXT) AS id, CAST(a.app AS TEXT) AS app, CAST(a.campaign_id AS TEXT) AS campaign_id, a.objective, a.tracked_apps
  FROM ads a WHERE a.id BETWEEN ${least} AND ${most}`;

const LARGEST_ID = "9223372036854775807";

export async function findAd(reader: Reader, app: NodeId, id: string): Promise<Ad | undefined> {
  const row = await reader.get<AdRow>(append(selectAds(id, id), "AND a.app = ?", [app]));
  return row === undefined ? undefined : adOf(row);
}

const byId = ordered("ascending", "a.id");

export async function listAds(reader: Reader, page: PageRequest): Promise<ListPage<Ad>> {
  const found = await readPage<AdRow>(reader, selectAds("1", LARGEST_ID), byId, page);
  return { ...found, rows: found.rows.map(adOf) };
}

export async function insertAd(tx: Transaction, ad: Ad): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(ad.id), type: "ad", owner: nodeId(ad.app) }))) return false;
  await tx.runOne(sql`
    INSERT INTO ads (id, app, campaign_id, objective, tracked_apps)
    VALUES (${ad.id}, ${ad.app}, ${ad.campaign_id}, ${ad.objective}, ${JSON.stringify(ad.tracked_apps)})`);
  return true;
}

export async function saveAd(tx: Transaction, ad: Ad): Promise<void> {
  await tx.runOne(sql`
    UPDATE ads SET campaign_id = ${ad.campaign_id}, objective = ${ad.objective}, tracked_apps = ${JSON.stringify(ad.tracked_apps)}
    WHERE id = ${ad.id}`);
}

/** Removes a deleted app from the lists of apps that ads track. */
export async function untrackApp(tx: Transaction, app: NodeId): Promise<void> {
  const ads = await tx.all<AdRow>(append(selectAds("1", LARGEST_ID), "AND a.tracked_apps LIKE ?", [`%"${app}"%`]));
  for (const ad of ads.map(adOf)) await saveAd(tx, { ...ad, tracked_apps: ad.tracked_apps.filter((tracked) => tracked !== app) });
}

/** Deletes an ad and its touches. Returns false if the ad does not exist. */
export async function deleteAd(tx: Transaction, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM ads WHERE id = ${id}`)) === 0) return false;
  await tx.run(sql`DELETE FROM ad_touch_identities WHERE touch IN (SELECT t.id FROM ad_touches t WHERE t.ad = ${id})`);
  await tx.run(sql`DELETE FROM ad_touches WHERE ad = ${id}`);
  await deleteNode(tx, nodeId(id));
  return true;
}

export async function deleteAdsOfApp(tx: Transaction, app: NodeId): Promise<void> {
  const ads = await tx.all<{ id: string }>(sql`SELECT CAST(a.id AS TEXT) AS id FROM ads a WHERE a.app = ${app}`);
  for (const { id } of ads) await deleteAd(tx, id);
}

/** A new touch of an ad. `identities` lists the device ids (`device:…`, `cookie:…`) and the persons (`em:…`) that the touch names. */
export interface NewTouch {
  readonly id: NodeId;
  readonly ad: string;
  readonly kind: Touch["kind"];
  readonly time: number;
  readonly identities: readonly string[];
}

export async function insertTouch(tx: Transaction, { id, ad, kind, time, identities }: NewTouch): Promise<void> {
  await tx.runOne(
    sql`INSERT INTO ad_touches (id, ad, kind, time, identities) VALUES (${id}, ${ad}, ${kind}, ${time}, ${JSON.stringify(identities)})`,
  );
  for (const identity of identities)
    await tx.run(sql`INSERT INTO ad_touch_identities (identity, touch) VALUES (${identity}, ${id}) ON CONFLICT DO NOTHING`);
}

interface TouchRow extends AdRow {
  touch: string;
  kind: "click" | "impression";
  time: number;
  identities: string;
}

/** A stored touch, with its ad and with all device ids and persons that the touch names. */
export interface StoredTouch extends Touch {
  readonly identities: readonly string[];
}

function touchOf({ touch, kind, time, identities, ...row }: TouchRow): StoredTouch {
  const all = JSON.parse(identities) as string[];
  return { id: touch, kind, time, identities: all, devices: all.filter(isDevice), ad: adOf(row) };
}

const TOUCH = `
  CAST(t.id AS TEXT) AS touch, t.kind, t.time, t.identities, CAST(a.id AS TEXT) AS id, CAST(a.app AS TEXT) AS app,
  CAST(a.campaign_id AS TEXT) AS campaign_id, a.objective, a.tracked_apps`;

/**
 * Returns the touches that name at least one of the given identities (device ids or persons). Each touch (click or impression of an ad) is returned
 * once.
 */
export async function findTouches(reader: Reader, identities: readonly string[]): Promise<StoredTouch[]> {
  const touches = append(
    sql`SELECT`,
    `${TOUCH} FROM ad_touch_identities i JOIN ad_touches t ON t.id = i.touch JOIN ads a ON a.id = t.ad WHERE i.identity`,
  );
  const rows = await allInList<TouchRow>(reader, touches, identities);
  return [...new Map(rows.map((row) => [row.touch, touchOf(row)])).values()];
}

/** The number of touches that one query for the touches of an ad reads. */
const TOUCHES_PAGE = 5_000;

/**
 * Yields the touches of one ad from `since` to `until`, in the order in which the touches were recorded. The report of attributed events uses this
 * function.
 */
export async function* touchesOfAd(reader: Reader, ad: string, since: number, until: number): AsyncGenerator<StoredTouch> {
  for (let last = "0"; ; ) {
    const rows = await reader.all<TouchRow>(
      append(
        sql`SELECT`,
        `${TOUCH} FROM ad_touches t JOIN ads a ON a.id = t.ad WHERE t.ad = ? AND t.id > ? AND t.time BETWEEN ? AND ? ORDER BY t.id LIMIT ${TOUCHES_PAGE}`,
        [ad, last, since, until],
      ),
    );
    for (const row of rows) yield touchOf(row);
    if (rows.length < TOUCHES_PAGE) return;
    last = rows[rows.length - 1]?.touch ?? last;
  }
}

/** Deletes the touches (clicks and impressions) that name a person or one of the person's devices. Returns the number of deleted touches. */
export async function deleteTouchesOf(tx: Transaction, identities: readonly string[]): Promise<number> {
  const named = sql`SELECT CAST(i.touch AS TEXT) AS touch FROM ad_touch_identities i WHERE i.identity`;
  const touches = new Set((await allInList<{ touch: string }>(tx, named, identities)).map(({ touch }) => touch));
  for (const touch of touches) {
    await tx.run(sql`DELETE FROM ad_touch_identities WHERE touch = ${touch}`);
    await tx.run(sql`DELETE FROM ad_touches WHERE id = ${touch}`);
  }
  return touches.size;
}
