import { appFact } from "#auth/tokens";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

export const webhookSubscriptionMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      // The row with the object '*' has the callback for objects without a callback of their own. Only a world file can set the row with the object
      // '*', and this row has no subscribed fields.
      `CREATE TABLE webhook_subscriptions (
        app BIGINT NOT NULL, object TEXT NOT NULL, callback_url TEXT, sealed_verify_token TEXT, is_verified INTEGER NOT NULL, fields TEXT NOT NULL,
        PRIMARY KEY (app, object)
      ) WITHOUT ROWID`,
      "CREATE TABLE page_subscribed_apps (page BIGINT NOT NULL, app BIGINT NOT NULL, subscribed_fields TEXT NOT NULL, PRIMARY KEY (page, app)) WITHOUT ROWID",
      "CREATE INDEX page_subscribed_apps_by_app ON page_subscribed_apps (app, page)",
      "CREATE TABLE retired_app_secrets (app BIGINT PRIMARY KEY, sealed_secret TEXT NOT NULL, until_ms BIGINT NOT NULL) WITHOUT ROWID",
    ],
  },
];

/** The value of the column `object` in the row with the callback for objects without a callback of their own. */
export const ANY_OBJECT = "*";

export interface SubscriptionRow extends Row {
  object: string;
  /** The callback of the object; null if the callback of the row `ANY_OBJECT` is used. */
  callback_url: string | null;
  sealed_verify_token: string | null;
  is_verified: number;
  /** The subscribed fields as a JSON list. */
  fields: string;
}

/** A row of the response to `GET /{app_id}/subscriptions`, with the callback that is used for the object. */
export interface ShownSubscriptionRow extends Row {
  object: string;
  callback_url: string | null;
  is_verified: number;
  fields: string;
}

export interface PageSubscriptionRow extends Row {
  app: string;
  subscribed_fields: string;
}

/**
 * Returns whether a JSON list contains a field, by searching the list as text. Field names come from the catalogue of fields, so they contain no
 * quotes.
 */
const holds = (fields: string, field: string): boolean => fields.includes(`"${field}"`);

const select = sql`SELECT s.object, s.callback_url, s.sealed_verify_token, s.is_verified, s.fields FROM webhook_subscriptions s`;

export const listSubscriptions = (reader: Reader, app: NodeId): Promise<SubscriptionRow[]> =>
  reader.all<SubscriptionRow>(append(select, "WHERE s.app = ? ORDER BY s.object", [app]));

export const findSubscription = (reader: Reader, app: NodeId, object: string): Promise<SubscriptionRow | undefined> =>
  reader.get<SubscriptionRow>(append(select, "WHERE s.app = ? AND s.object = ?", [app, object]));

const byObject = ordered("ascending", "s.object");

export function listShownSubscriptions(reader: Reader, app: NodeId, page: PageRequest): Promise<ListPage<ShownSubscriptionRow>> {
  return readPage<ShownSubscriptionRow>(
    reader,
    sql`
    SELECT s.object, COALESCE(s.callback_url, d.callback_url) AS callback_url, s.fields,
      CASE WHEN s.callback_url IS NULL THEN COALESCE(d.is_verified, 0) ELSE s.is_verified END AS is_verified
    FROM webhook_subscriptions s LEFT JOIN webhook_subscriptions d ON d.app = s.app AND d.object = ${ANY_OBJECT}
    WHERE s.app = ${app} AND s.object <> ${ANY_OBJECT}`,
    byObject,
    page,
  );
}

export async function saveSubscription(tx: Transaction, app: NodeId, row: SubscriptionRow): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO webhook_subscriptions (app, object, callback_url, sealed_verify_token, is_verified, fields)
    VALUES (${app}, ${row.object}, ${row.callback_url}, ${row.sealed_verify_token}, ${row.is_verified}, ${row.fields})
    ON CONFLICT (app, object) DO UPDATE SET callback_url = excluded.callback_url, sealed_verify_token = excluded.sealed_verify_token,
      is_verified = excluded.is_verified, fields = excluded.fields`);
  tx.invalidate(appFact, app);
}

export async function deleteSubscription(tx: Transaction, app: NodeId, object: string): Promise<void> {
  await tx.run(sql`DELETE FROM webhook_subscriptions WHERE app = ${app} AND object = ${object}`);
  tx.invalidate(appFact, app);
}

export async function isSubscribed(reader: Reader, app: NodeId, object: string, field: string): Promise<boolean> {
  const row = await reader.get<{ fields: string }>(sql`SELECT s.fields FROM webhook_subscriptions s WHERE s.app = ${app} AND s.object = ${object}`);
  return row !== undefined && holds(row.fields, field);
}

const selectOfPages = sql`SELECT CAST(p.app AS TEXT) AS app, p.subscribed_fields FROM page_subscribed_apps p`;

export async function listPageSubscriptions(reader: Reader, page: NodeId): Promise<{ app: NodeId; subscribed_fields: string[] }[]> {
  const rows = await reader.all<PageSubscriptionRow>(append(selectOfPages, "WHERE p.page = ? ORDER BY p.app", [page]));
  return rows.map(({ app, subscribed_fields }) => ({ app: nodeId(app), subscribed_fields: JSON.parse(subscribed_fields) }));
}

const newestFirst = ordered("descending", "p.app");

export const pagePageSubscriptions = (reader: Reader, page: NodeId, request: PageRequest): Promise<ListPage<PageSubscriptionRow>> =>
  readPage<PageSubscriptionRow>(reader, append(selectOfPages, "WHERE p.page = ?", [page]), newestFirst, request);

/** D-131: returns the apps that are subscribed to the field both on the page and in their own subscriptions. */
export async function subscribersOfPage(reader: Reader, page: NodeId, field: string): Promise<NodeId[]> {
  // The function makes a query for the page and then a query for each app, instead of one join, because the function runs for each event of a page
  // and most pages have no subscriber.
  const rows = await reader.all<PageSubscriptionRow>(append(selectOfPages, "WHERE p.page = ?", [page]));
  const subscribers: NodeId[] = [];
  for (const { app, subscribed_fields } of rows) {
    const id = nodeId(app);
    if (holds(subscribed_fields, field) && (await isSubscribed(reader, id, "page", field))) subscribers.push(id);
  }
  return subscribers;
}

export async function savePageSubscription(tx: Transaction, page: NodeId, app: NodeId, fields: readonly string[]): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO page_subscribed_apps (page, app, subscribed_fields) VALUES (${page}, ${app}, ${JSON.stringify(fields)})
    ON CONFLICT (page, app) DO UPDATE SET subscribed_fields = excluded.subscribed_fields`);
}

export async function deletePageSubscription(tx: Transaction, page: NodeId, app: NodeId): Promise<void> {
  await tx.run(sql`DELETE FROM page_subscribed_apps WHERE page = ${page} AND app = ${app}`);
}

/** A replaced secret of an app. Webhooks are also signed with the replaced secret until `until_ms`, in Unix milliseconds of real time (D-132). */
export interface RetiredSecretRow extends Row {
  sealed_secret: string;
  until_ms: number;
}

export function findRetiredSecret(reader: Reader, app: NodeId): Promise<RetiredSecretRow | undefined> {
  return reader.get<RetiredSecretRow>(sql`SELECT r.sealed_secret, r.until_ms FROM retired_app_secrets r WHERE r.app = ${app}`);
}

export async function saveRetiredSecret(tx: Transaction, app: NodeId, { sealed_secret, until_ms }: RetiredSecretRow): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO retired_app_secrets (app, sealed_secret, until_ms) VALUES (${app}, ${sealed_secret}, ${until_ms})
    ON CONFLICT (app) DO UPDATE SET sealed_secret = excluded.sealed_secret, until_ms = excluded.until_ms`);
  tx.invalidate(appFact, app);
}

/** Returns the number of sealed values that do not begin with `prefix`. The text `prefix` must contain no wildcard of LIKE (`%` or `_`). */
export async function countSealedOtherwise(reader: Reader, prefix: string): Promise<number> {
  const row = await reader.get<{ n: number }>(sql`
    SELECT (SELECT COUNT(*) FROM retired_app_secrets r WHERE r.sealed_secret NOT LIKE ${`${prefix}%`})
      + (SELECT COUNT(*) FROM webhook_subscriptions s WHERE s.sealed_verify_token NOT LIKE ${`${prefix}%`}) AS n`);
  return row?.n ?? 0;
}

/**
 * Calls the function `again` for each sealed value of an app and stores what `again` returns. If `again` returns undefined, the stored value does not
 * change.
 */
export async function resealOfApp(tx: Transaction, app: NodeId, again: (sealed: string) => string | undefined): Promise<void> {
  const retired = await findRetiredSecret(tx, app);
  const secret = retired === undefined ? undefined : again(retired.sealed_secret);
  if (secret !== undefined)
    await tx.run(
      sql`UPDATE retired_app_secrets SET sealed_secret = ${secret} WHERE app = ${app} AND sealed_secret = ${retired?.sealed_secret ?? ""}`,
    );
  for (const { object, sealed_verify_token } of await listSubscriptions(tx, app)) {
    const token = sealed_verify_token === null ? undefined : again(sealed_verify_token);
    if (token === undefined) continue;
    await tx.run(sql`
      UPDATE webhook_subscriptions SET sealed_verify_token = ${token}
      WHERE app = ${app} AND object = ${object} AND sealed_verify_token = ${sealed_verify_token}`);
  }
  tx.invalidate(appFact, app);
}

/** Deletes the subscriptions of a removed app or page. */
export async function deleteAllOf(tx: Transaction, owner: NodeId): Promise<void> {
  await tx.run(sql`DELETE FROM webhook_subscriptions WHERE app = ${owner}`);
  await tx.run(sql`DELETE FROM retired_app_secrets WHERE app = ${owner}`);
  await tx.run(sql`DELETE FROM page_subscribed_apps WHERE app = ${owner}`);
  await tx.run(sql`DELETE FROM page_subscribed_apps WHERE page = ${owner}`);
  tx.invalidate(appFact, owner);
}
