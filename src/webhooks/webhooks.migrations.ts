import type { FeatureMigrations } from "#storage/database";

/**
 * An event is stored once, a delivery for each app that gets it. Nullable columns say what a delivery waits for, so that an
 * index holds only those rows that do:
 *
 * - `first_lane`: it waits for its first attempt, in the queue of that callback (`lane`; 0: it leads nowhere);
 * - `queue_entity`: it holds a place in the order of its entity (waiting for its first attempt, or in it);
 * - `retry_due_ms`: it waits for a retry;
 * - `head`: it travels in that delivery's POST and has no state of its own;
 * - `fence` above 0: a session is sending it.
 */
export const webhookMigrations: FeatureMigrations = {
  feature: "webhooks",
  migrations: [
    {
      name: "events",
      statements: [
        // `deliveries`: how many refer to it, so that it can go with the last one.
        `CREATE TABLE webhook_events (
          id BIGINT PRIMARY KEY, object TEXT NOT NULL, field TEXT NOT NULL, entity BIGINT NOT NULL, phone BIGINT, time_ms BIGINT NOT NULL,
          deliveries INTEGER NOT NULL, payload TEXT NOT NULL
        ) WITHOUT ROWID`,
      ],
    },
    {
      name: "deliveries",
      statements: [
        `CREATE TABLE webhook_deliveries (
          id BIGINT PRIMARY KEY, event BIGINT NOT NULL, app BIGINT NOT NULL, lane BIGINT NOT NULL, status INTEGER NOT NULL,
          first_lane BIGINT, queue_entity BIGINT, retry_due_ms BIGINT, head BIGINT, members INTEGER NOT NULL, fence BIGINT NOT NULL,
          first_attempt_ms BIGINT, tries INTEGER NOT NULL, attempts TEXT NOT NULL, ended_ms BIGINT
        ) WITHOUT ROWID`,
        "CREATE INDEX webhook_deliveries_first ON webhook_deliveries (first_lane, id) WHERE first_lane IS NOT NULL",
        "CREATE INDEX webhook_deliveries_order ON webhook_deliveries (lane, queue_entity, id) WHERE queue_entity IS NOT NULL",
        "CREATE INDEX webhook_deliveries_retry ON webhook_deliveries (lane, retry_due_ms, id) WHERE retry_due_ms IS NOT NULL",
        "CREATE INDEX webhook_deliveries_member ON webhook_deliveries (head, id) WHERE head IS NOT NULL",
        "CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (fence) WHERE fence > 0",
      ],
    },
    {
      name: "callbacks",
      statements: [
        `CREATE TABLE webhook_callbacks (
          id BIGINT PRIMARY KEY, app BIGINT NOT NULL, url TEXT NOT NULL, failing_since_ms BIGINT, alerted_ms BIGINT, paused_ms BIGINT
        ) WITHOUT ROWID`,
        "CREATE UNIQUE INDEX webhook_callbacks_by_url ON webhook_callbacks (app, url)",
      ],
    },
    {
      // D-62: deliveries without a callback could join the batch of another app. Those that were not sent wait on their own
      // again, due at once; of the others nobody knows who got them, so they have failed, and can be replayed.
      name: "batches_of_one_app",
      statements: [
        `UPDATE webhook_deliveries SET members = (
          SELECT COUNT(*) FROM webhook_deliveries m WHERE m.head = webhook_deliveries.id AND m.app = webhook_deliveries.app)
        WHERE id IN (
          SELECT h.id FROM webhook_deliveries m JOIN webhook_deliveries h ON h.id = m.head WHERE m.head IS NOT NULL AND m.app <> h.app)`,
        `UPDATE webhook_deliveries SET head = NULL,
          status = (SELECT CASE WHEN h.ended_ms IS NULL THEN 0 ELSE 3 END FROM webhook_deliveries h WHERE h.id = webhook_deliveries.head),
          retry_due_ms = (SELECT CASE WHEN h.ended_ms IS NULL THEN 0 ELSE NULL END FROM webhook_deliveries h WHERE h.id = webhook_deliveries.head),
          ended_ms = (SELECT h.ended_ms FROM webhook_deliveries h WHERE h.id = webhook_deliveries.head)
        WHERE head IS NOT NULL AND app <> (SELECT h.app FROM webhook_deliveries h WHERE h.id = webhook_deliveries.head)`,
      ],
    },
    {
      // D-137: attempts decide about a pause, where a job did, and a paused callback is tried once an hour.
      name: "callback_health",
      statements: [
        "ALTER TABLE webhook_callbacks ADD COLUMN last_failure_ms BIGINT",
        "ALTER TABLE webhook_callbacks ADD COLUMN probe_due_ms BIGINT",
        // The last event is the best that SQL knows of the world's time.
        `UPDATE webhook_callbacks SET probe_due_ms = 3600000 + (SELECT COALESCE(MAX(e.time_ms), 0) FROM webhook_events e)
        WHERE paused_ms IS NOT NULL`,
        "DELETE FROM jobs WHERE kind = 'webhook_callback_pause'",
      ],
    },
  ],
};
