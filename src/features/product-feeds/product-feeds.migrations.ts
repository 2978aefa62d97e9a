import type { Migration } from "#storage/database";

export const productFeedMigrations: readonly Migration[] = [
  {
    name: "product_feeds",
    statements: [
      // `generation` is the one that the feed shows; each ingestion writes another one (D-140). 0: none yet.
      `CREATE TABLE product_feeds (
        id BIGINT PRIMARY KEY, catalog BIGINT NOT NULL, name TEXT NOT NULL, generation BIGINT NOT NULL, next_upload BIGINT NOT NULL,
        item_count BIGINT NOT NULL
      ) WITHOUT ROWID`,
      "CREATE INDEX product_feeds_by_catalog ON product_feeds (catalog, id)",
      "CREATE TABLE feed_generations (feed BIGINT NOT NULL, generation BIGINT NOT NULL, PRIMARY KEY (feed, generation)) WITHOUT ROWID",
      // No number is used twice, so that a run that was replaced writes a generation that no feed shows.
      "CREATE TABLE feed_generation_numbers (next_generation BIGINT NOT NULL)",
      "INSERT INTO feed_generation_numbers (next_generation) VALUES (1)",
      // `item` is a JSON list of values without names (product-feeds.items.ts), which is a third smaller than an object.
      `CREATE TABLE feed_items (
        generation BIGINT NOT NULL, id BIGINT NOT NULL, retailer_id TEXT NOT NULL, position BIGINT NOT NULL, item TEXT NOT NULL,
        PRIMARY KEY (generation, id)
      ) WITHOUT ROWID`,
      "CREATE UNIQUE INDEX feed_items_by_retailer_id ON feed_items (generation, retailer_id)",
    ],
  },
  {
    name: "feed_uploads",
    statements: [
      `CREATE TABLE feed_uploads (
        feed BIGINT NOT NULL, n BIGINT NOT NULL, status TEXT NOT NULL, source TEXT NOT NULL, url TEXT, file_name TEXT, format TEXT,
        is_complete INTEGER NOT NULL, bytes BIGINT NOT NULL, generation BIGINT NOT NULL, created_time BIGINT NOT NULL,
        started_time BIGINT NOT NULL, ended_time BIGINT NOT NULL, rows BIGINT NOT NULL, items BIGINT NOT NULL, items_added BIGINT NOT NULL,
        items_replaced BIGINT NOT NULL, items_removed BIGINT NOT NULL, bad_rows BIGINT NOT NULL, duplicates BIGINT NOT NULL, problem TEXT,
        errors TEXT NOT NULL, PRIMARY KEY (feed, n)
      ) WITHOUT ROWID`,
      // Files as received, until they are ingested. After a crash the ingestion starts again from them (D-142).
      "CREATE TABLE feed_upload_parts (feed BIGINT NOT NULL, n BIGINT NOT NULL, part BIGINT NOT NULL, bytes BYTEA NOT NULL, PRIMARY KEY (feed, n, part))",
    ],
  },
  {
    name: "generation numbers in rows",
    statements: [
      "CREATE TABLE feed_generation_slots (slot INTEGER PRIMARY KEY, generation BIGINT NOT NULL) WITHOUT ROWID",
      // Above all numbers so far; each row's numbers leave its own remainder.
      `INSERT INTO feed_generation_slots (slot, generation)
        WITH RECURSIVE slots (slot) AS (SELECT 0 UNION ALL SELECT slot + 1 FROM slots WHERE slot < 63)
        SELECT s.slot, (n.next_generation / 64 + 1) * 64 + s.slot FROM slots s CROSS JOIN feed_generation_numbers n`,
      "DROP TABLE feed_generation_numbers",
    ],
  },
  {
    name: "feed schedules, and uploads as nodes",
    statements: [
      // JSON of a `Schedule` (schedules/schedule.ts).
      "ALTER TABLE product_feeds ADD COLUMN schedule TEXT",
      "ALTER TABLE product_feeds ADD COLUMN update_schedule TEXT",
      // Uploads from before have no id, and no address in the graph.
      "ALTER TABLE feed_uploads ADD COLUMN id BIGINT",
      "ALTER TABLE feed_uploads ADD COLUMN is_update INTEGER NOT NULL DEFAULT 0",
      "CREATE UNIQUE INDEX feed_uploads_by_id ON feed_uploads (id) WHERE id IS NOT NULL",
    ],
  },
];
