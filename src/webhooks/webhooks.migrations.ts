import type { FeatureMigrations } from "#storage/database";

/**
 * The tables store an event once, with a delivery for each app that gets the event. Nullable columns say what a delivery waits for, so that each
 * index on such a column has only the rows of deliveries that wait:
 *
 * - `first_callback`: the delivery waits for its first attempt, in the queue of its `callback` (0: it has no callback);
 * - `queue_entity`: the delivery has a position in the order of its entity, because its first attempt waits or is under way;
 * - `retry_due_ms`: the delivery waits for a retry;
 * - `head`: the delivery's event is in the POST of the delivery with this id, and the delivery itself has no status;
 * - `fence` above 0: a session is sending the delivery.
 */
export const webhookMigrations: FeatureMigrations = {
  feature: "webhooks",
  migrations: [
    {
      name: "tables",
      statements: [
        // `deliveries` is the number of deliveries of the event; the event is removed with its last delivery. D-357: `traceparent` and `tracestate`
        // identify the span that caused the event, if traces are on.
        `CREATE TABLE webhook_events (
          id BIGINT PRIMARY KEY, object TEXT NOT NULL, field TEXT NOT NULL, entity BIGINT NOT NULL, phone BIGINT, time_ms BIGINT NOT NULL,
          deliveries INTEGER NOT NULL, payload TEXT NOT NULL, traceparent TEXT, tracestate TEXT
        ) WITHOUT ROWID`,
        `CREATE TABLE webhook_deliveries (
          id BIGINT PRIMARY KEY, event BIGINT NOT NULL, app BIGINT NOT NULL, callback BIGINT NOT NULL, status INTEGER NOT NULL,
          first_callback BIGINT, queue_entity BIGINT, retry_due_ms BIGINT, head BIGINT, members INTEGER NOT NULL, fence BIGINT NOT NULL,
          first_attempt_ms BIGINT, tries INTEGER NOT NULL, attempts TEXT NOT NULL, ended_ms BIGINT
        ) WITHOUT ROWID`,
        "CREATE INDEX webhook_deliveries_first ON webhook_deliveries (first_callback, id) WHERE first_callback IS NOT NULL",
        "CREATE INDEX webhook_deliveries_order ON webhook_deliveries (callback, queue_entity, id) WHERE queue_entity IS NOT NULL",
        "CREATE INDEX webhook_deliveries_retry ON webhook_deliveries (callback, retry_due_ms, id) WHERE retry_due_ms IS NOT NULL",
        "CREATE INDEX webhook_deliveries_member ON webhook_deliveries (head, id) WHERE head IS NOT NULL",
        "CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (fence) WHERE fence > 0",
        // D-137: the results of attempts pause a callback, and a paused callback is tried once an hour.
        `CREATE TABLE webhook_callbacks (
          id BIGINT PRIMARY KEY, app BIGINT NOT NULL, url TEXT NOT NULL, failing_since_ms BIGINT, last_failure_ms BIGINT, alerted_ms BIGINT,
          paused_ms BIGINT, probe_due_ms BIGINT
        ) WITHOUT ROWID`,
        "CREATE UNIQUE INDEX webhook_callbacks_by_url ON webhook_callbacks (app, url)",
        // D-424: the table lists delivered webhooks in the order in which their results were committed. The server writes this table only with the
        // option `--webhook-log`.
        "CREATE TABLE webhook_log (position BIGINT PRIMARY KEY, delivery BIGINT NOT NULL, logged_ms BIGINT NOT NULL) WITHOUT ROWID",
      ],
    },
  ],
};
