import type { Migration } from "#storage/database";

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
