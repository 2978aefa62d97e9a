import type { Migration } from "#storage/database";

export const appEventMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      // Each row of the event log is one event. `request` is the number of the event's request; an app's requests are numbered in the order of
      // commits, so new rows are appended and old rows are adjacent. Only the first event of a request has a value in the column `device`. `value` is
      // the value of the event in millionths. The column `key` has a value if the event has an `event_id` (`log/fingerprints.ts`). The table has row
      // ids, because without row ids each entry of `app_events_by_key` would contain the whole primary key, and the index would be larger. The
      // columns are ordered by size, because PostgreSQL aligns each column.
      `CREATE TABLE app_events (
        app BIGINT NOT NULL, request BIGINT NOT NULL, received BIGINT NOT NULL, time BIGINT NOT NULL, key BIGINT, value BIGINT,
        position INTEGER NOT NULL, tracking INTEGER NOT NULL, name TEXT NOT NULL, event_id TEXT, currency TEXT NOT NULL, parameters TEXT NOT NULL,
        device TEXT,
        PRIMARY KEY (app, request, position)
      )`,
      "CREATE INDEX app_events_by_key ON app_events (key) WHERE key IS NOT NULL",
      // Stores the number of an app's newest request when no events of the app are left in the log, so that no request number is used twice.
      "CREATE TABLE app_event_last_requests (app BIGINT PRIMARY KEY, request BIGINT NOT NULL) WITHOUT ROWID",
      "CREATE TABLE app_event_names (app BIGINT NOT NULL, name TEXT NOT NULL, active INTEGER NOT NULL, PRIMARY KEY (app, name)) WITHOUT ROWID",
      // `day` is the number of the day in UTC, counted from 1970-01-01. A row with the `day` -1 has the sum of all days. The sum in millionths is
      // high * 10^18 + low.
      `CREATE TABLE app_event_sums (
        app BIGINT NOT NULL, day INTEGER NOT NULL, name TEXT NOT NULL, currency TEXT NOT NULL, count BIGINT NOT NULL, valued BIGINT NOT NULL,
        sum_high BIGINT NOT NULL, sum_low BIGINT NOT NULL, first_time BIGINT NOT NULL, last_time BIGINT NOT NULL,
        PRIMARY KEY (app, day, name, currency)
      ) WITHOUT ROWID`,
      // Stores the ids of devices (`log/joined-ids.store.ts`). All ids with the same `device` number belong to one device.
      `CREATE TABLE app_device_ids (app BIGINT NOT NULL, identity TEXT NOT NULL, device BIGINT NOT NULL, installed INTEGER NOT NULL, PRIMARY KEY (app, identity))
        WITHOUT ROWID`,
      "CREATE INDEX app_device_ids_by_device ON app_device_ids (app, device)",
      // The next two tables are the index that finds a device's requests (`log/devices.store.ts`).
      "CREATE TABLE app_event_devices (app BIGINT NOT NULL, fingerprint BIGINT NOT NULL, request BIGINT NOT NULL, PRIMARY KEY (app, fingerprint, request)) WITHOUT ROWID",
      `CREATE TABLE app_event_ties (
        app BIGINT NOT NULL, fingerprint BIGINT NOT NULL, signature BIGINT NOT NULL, request BIGINT NOT NULL, PRIMARY KEY (app, fingerprint, signature)
      ) WITHOUT ROWID`,
      `CREATE TABLE ads (id BIGINT PRIMARY KEY, app BIGINT NOT NULL, campaign_id BIGINT NOT NULL, objective TEXT NOT NULL, tracked_apps TEXT NOT NULL)
        WITHOUT ROWID`,
      // A touch is a click or an impression of an ad. `identities` is a JSON list of the device ids and the persons that the touch names.
      `CREATE TABLE ad_touches (
        id BIGINT PRIMARY KEY, ad BIGINT NOT NULL, kind TEXT NOT NULL, time BIGINT NOT NULL, identities TEXT NOT NULL
      ) WITHOUT ROWID`,
      "CREATE TABLE ad_touch_identities (identity TEXT NOT NULL, touch BIGINT NOT NULL, PRIMARY KEY (identity, touch)) WITHOUT ROWID",
      "CREATE INDEX ad_touches_by_ad ON ad_touches (ad, id)",
    ],
  },
];
