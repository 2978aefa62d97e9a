import type { Migration } from "#storage/database";

/** As they were when the sums were made of what was stored before. */
const spans = [1, 60, 3_600, 86_400, 2_764_800, 88_473_600];

/** The sums of `rows`, which have target, metric, time, label and value. */
const sumsOf = (rows: string) =>
  spans.map(
    (span) => `INSERT INTO insight_sums (target, metric, span, start, label, value)
      SELECT r.target, r.metric, ${span}, r.time - r.time % ${span}, r.label, CAST(SUM(r.value) AS BIGINT)
      FROM (${rows}) r GROUP BY r.target, r.metric, r.time - r.time % ${span}, r.label`,
  );

const followersBy = (metric: string, label: string, where: string) =>
  sumsOf(
    `SELECT f.microblog_user AS target, '${metric}' AS metric, f.time AS time, ${label} AS label, f.value AS value FROM follower_groups f ${where}`,
  );

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
  {
    // D-54: sums by second, minute, hour, day and longer, so that any range reads a few hundred rows. What was stored by day counts as
    // recorded in the first second of its day, as exports always had it.
    name: "insight_sums",
    statements: [
      `CREATE TABLE insight_sums (target BIGINT NOT NULL, metric TEXT NOT NULL, span INTEGER NOT NULL, start BIGINT NOT NULL, label TEXT NOT NULL,
        value BIGINT NOT NULL, PRIMARY KEY (target, metric, span, start, label)) WITHOUT ROWID`,
      ...sumsOf(
        `SELECT d.target AS target, d.metric AS metric, CAST(d.day AS BIGINT) * 86400 AS time, '' AS label, d.value AS value
          FROM insight_days d WHERE d.metric <> 'clicks'`,
      ),
      ...sumsOf(
        "SELECT l.target AS target, 'clicks' AS metric, CAST(l.day AS BIGINT) * 86400 AS time, l.link_url AS label, l.value AS value FROM insight_links l",
      ),
      ...followersBy("followers_count", "''", ""),
      ...["country", "city", "age", "gender"].flatMap((dimension) => followersBy(dimension, `f.${dimension}`, `WHERE f.${dimension} <> ''`)),
      ...["insight_days", "insight_totals", "insight_links", "follower_demographics"].map((table) => `DROP TABLE ${table}`),
    ],
  },
];
