import type { Migration } from "#storage/database";

export const microblogInsightMigrations: readonly Migration[] = [
  {
    name: "insights",
    statements: [
      "CREATE TABLE microblog_media (owner BIGINT NOT NULL, id BIGINT NOT NULL, text TEXT NOT NULL, timestamp BIGINT NOT NULL, PRIMARY KEY (owner, id)) WITHOUT ROWID",
      // Activities are counted when they are recorded, by day and in total, so that a read costs as many rows as it has days.
      "CREATE TABLE insight_days (target BIGINT NOT NULL, metric TEXT NOT NULL, day INTEGER NOT NULL, value BIGINT NOT NULL, PRIMARY KEY (target, metric, day)) WITHOUT ROWID",
      "CREATE TABLE insight_totals (target BIGINT NOT NULL, metric TEXT NOT NULL, value BIGINT NOT NULL, PRIMARY KEY (target, metric)) WITHOUT ROWID",
      `CREATE TABLE insight_links (target BIGINT NOT NULL, day INTEGER NOT NULL, link_url TEXT NOT NULL, value BIGINT NOT NULL,
        PRIMARY KEY (target, day, link_url)) WITHOUT ROWID`,
      `CREATE TABLE follower_groups (microblog_user BIGINT NOT NULL, time BIGINT NOT NULL, country TEXT NOT NULL, city TEXT NOT NULL, age TEXT NOT NULL,
        gender TEXT NOT NULL, value BIGINT NOT NULL, PRIMARY KEY (microblog_user, time, country, city, age, gender)) WITHOUT ROWID`,
      `CREATE TABLE follower_demographics (microblog_user BIGINT NOT NULL, dimension TEXT NOT NULL, dimension_value TEXT NOT NULL, value BIGINT NOT NULL,
        PRIMARY KEY (microblog_user, dimension, dimension_value)) WITHOUT ROWID`,
    ],
  },
];
