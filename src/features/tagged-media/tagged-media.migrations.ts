import type { Migration } from "#storage/database";

export const taggedMediaMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE media (
        owner BIGINT NOT NULL, id BIGINT NOT NULL, media_type TEXT NOT NULL, media_product_type TEXT NOT NULL, caption TEXT, media_url TEXT,
        permalink TEXT, thumbnail_url TEXT, shortcode TEXT, like_count BIGINT NOT NULL, comments_count BIGINT NOT NULL, timestamp BIGINT NOT NULL,
        is_private INTEGER NOT NULL, children TEXT NOT NULL, PRIMARY KEY (owner, id)
      ) WITHOUT ROWID`,
      // The primary key starts with the tagged account and separates private from public media, so that a page of the list is read in the order of
      // the key.
      `CREATE TABLE media_tags (
        account BIGINT NOT NULL, is_private INTEGER NOT NULL, timestamp BIGINT NOT NULL, media BIGINT NOT NULL, owner BIGINT NOT NULL,
        PRIMARY KEY (account, is_private, timestamp, media)
      ) WITHOUT ROWID`,
      "CREATE INDEX media_tags_by_media ON media_tags (owner, media)",
    ],
  },
];
