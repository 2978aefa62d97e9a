import type { Migration } from "#storage/database";

export const productFeedMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      // The column `generation` has the number of the generation that the feed shows, or 0 before the first ingestion (D-140). The columns `schedule`
      // and `update_schedule` have a `Schedule` (schedules/schedule.ts) as JSON.
      `CREATE TABLE product_feeds (
        id BIGINT PRIMARY KEY, catalog BIGINT NOT NULL, name TEXT NOT NULL, generation BIGINT NOT NULL, next_upload BIGINT NOT NULL,
        item_count BIGINT NOT NULL, schedule TEXT, update_schedule TEXT
      ) WITHOUT ROWID`,
      "CREATE INDEX product_feeds_by_catalog ON product_feeds (catalog, id)",
      "CREATE TABLE feed_generations (feed BIGINT NOT NULL, generation BIGINT NOT NULL, PRIMARY KEY (feed, generation)) WITHOUT ROWID",
      // The table `feed_generation_slots` has the counters that number the generations. No generation number is used twice, so a feed never shows the
      // items of a run that another run has replaced. The table has one counter for each slot. A generation's number modulo 64 is the slot of its
      // counter.
      "CREATE TABLE feed_generation_slots (slot INTEGER PRIMARY KEY, generation BIGINT NOT NULL) WITHOUT ROWID",
      // The column `item` contains a JSON list of values without names (product-feeds.items.ts), which is a third smaller than an object.
      `CREATE TABLE feed_items (
        generation BIGINT NOT NULL, id BIGINT NOT NULL, retailer_id TEXT NOT NULL, position BIGINT NOT NULL, item TEXT NOT NULL,
        PRIMARY KEY (generation, id)
      ) WITHOUT ROWID`,
      "CREATE UNIQUE INDEX feed_items_by_retailer_id ON feed_items (generation, retailer_id)",
      `CREATE TABLE feed_uploads (
        feed BIGINT NOT NULL, n BIGINT NOT NULL, id BIGINT NOT NULL, status TEXT NOT NULL, source TEXT NOT NULL, url TEXT, file_name TEXT, format TEXT,
        is_update INTEGER NOT NULL, is_complete INTEGER NOT NULL, bytes BIGINT NOT NULL, generation BIGINT NOT NULL, created_time BIGINT NOT NULL,
        started_time BIGINT NOT NULL, ended_time BIGINT NOT NULL, rows BIGINT NOT NULL, items BIGINT NOT NULL, items_added BIGINT NOT NULL,
        items_replaced BIGINT NOT NULL, items_removed BIGINT NOT NULL, bad_rows BIGINT NOT NULL, duplicates BIGINT NOT NULL, problem TEXT,
        errors TEXT NOT NULL, PRIMARY KEY (feed, n)
      ) WITHOUT ROWID`,
      "CREATE UNIQUE INDEX feed_uploads_by_id ON feed_uploads (id)",
      // The table `feed_upload_parts` has the parts of each received file until the file is ingested. After a crash the ingestion starts again with
      // the stored parts of the file (D-142).
      "CREATE TABLE feed_upload_parts (feed BIGINT NOT NULL, n BIGINT NOT NULL, part BIGINT NOT NULL, bytes BYTEA NOT NULL, PRIMARY KEY (feed, n, part))",
    ],
  },
];
