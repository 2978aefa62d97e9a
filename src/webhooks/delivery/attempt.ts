/** One attempt at a delivery: its route, its request and its outcome. No transaction is open during an attempt. */
import { nodeId } from "#kernel/ids";
import type { OpenSpan, TraceContext, Tracing } from "#kernel/tracing/tracing";
import { CallbackRefused } from "#outbound/address-rules";
import { RequestFailed } from "#outbound/request";
import type { FieldCatalogue } from "../catalogue/catalogue.ts";
import type { DeliveryDeps } from "../deps.ts";
import { envelopeOf, type Update } from "../events/envelope.ts";
import { isWanted } from "../events/reroute.ts";
import { type AttemptedOutcome, isAttempted, type Outcome } from "../observer.ts";
import { eventFactsOf, type WebhookApp } from "../ports.ts";
import type { Attempt } from "./attempts.ts";
import type { Claimed } from "./claims.ts";
import { type EventRow, NO_CALLBACK } from "./deliveries.store.ts";
import { nextRetryMs } from "./retry-schedule.ts";
import { signatureHeaders } from "./signing.ts";

/** D-62: the time in which the receiver must respond to a delivery. */
const DEADLINE_MS = 15_000;
const RESPONSE_BYTES_MAX = 64 * 1024;
/** The number of bytes of a response that are stored, enough to recognise an error page. */
const RESPONSE_KEPT_BYTES = 256;
const GONE = 410;
/** The payload of an event about an erased person: events with this payload are not sent any more (D-172). */
const ERASED = "";

/** D-137: whether the receiver says with the status 410 that the callback does not exist any more. */
export const isGone = ({ status }: Attempt): boolean => status === GONE;

export function attemptDelivery(deps: DeliveryDeps, claimed: Claimed): Promise<Outcome> {
  const { tracing } = deps;
  if (tracing === undefined) return attempt(deps, claimed);
  const { row, members } = claimed;
  const attributes = { "plaza.delivery": row.id, "plaza.app": row.app, "plaza.webhook_field": row.field, "plaza.attempt": row.tries + 1 };
  // D-357: the span belongs to the trace of the request that caused the first event; the causes of the other events are links.
  const causes = members.flatMap((member) => causeOf(member) ?? []);
  const start = { kind: "client", attributes, parent: causeOf(row), links: causes } as const;
  return tracing.run("webhook delivery", start, async (span) => {
    const outcome = await attempt(deps, claimed);
    span.set({ "plaza.outcome": outcome.kind });
    if (isAttempted(outcome)) recordAttempt(span, outcome);
    return outcome;
  });
}

const causeOf = ({ traceparent, tracestate }: EventRow): TraceContext | undefined => (traceparent === null ? undefined : { traceparent, tracestate });

/** Records an attempt in its span. The text of an error is recorded only up to the colon, because the rest may contain the receiver's address. */
function recordAttempt(span: OpenSpan, { kind, attempt: { status, error } }: AttemptedOutcome): void {
  if (status !== undefined) span.set({ "http.response.status_code": status });
  if (kind !== "delivered") span.fail(error?.split(":", 1)[0] ?? String(status));
}

async function attempt(deps: DeliveryDeps, claimed: Claimed): Promise<Outcome> {
  const { row } = claimed;
  const nowMs = deps.clock.nowMs();
  const events = eventsOf(claimed);
  if (events.length === 0)
    return { kind: "failed", attempt: { time_ms: nowMs, error: "erased: the webhook was about a person whose data was erased" }, endedMs: nowMs };
  const { fields, facts, database, callbacks } = deps;
  const app = nodeId(row.app);
  // Only retries are checked for a lost subscription, because a first attempt follows its event at once, and deliveries that waited for a first
  // attempt ended when the app unsubscribed.
  if (claimed.isRetry && !(await isWanted(facts, database.reader, app, [row, ...claimed.members], nowMs)))
    return { kind: "unsubscribed", endedMs: nowMs };
  const of = await facts.findApp(database.reader, app);
  const route = await facts.routeOf(database.reader, app, of, eventFactsOf(row), fields.isHonouringOverrides(row));
  if (route.to === "nowhere" || of === undefined) {
    if (row.callback !== NO_CALLBACK) return { kind: "moved", url: undefined };
    const reason = route.to === "nowhere" ? route.reason : "no_callback";
    return failure(deps, claimed, { time_ms: deps.clock.nowMs(), error: reason }, false);
  }
  const callback = row.callback === NO_CALLBACK ? undefined : await callbacks.find(row.callback);
  if (callback?.url !== route.url) return { kind: "moved", url: route.url };
  // The result of another delivery has paused the callback after this delivery was claimed, or while the callback was being read.
  if (callback.paused_ms !== null && !claimed.isProbe) return { kind: "back" };
  const secrets = secretsOf(deps, of);
  if (deps.faults.isEmpty || claimed.isProbe) return send(deps, claimed, events, route.url, secrets);
  return sendFaulty(deps, claimed, events, () => send(deps, claimed, events, route.url, secrets));
}

/** D-150: sends a delivery with a fault that a tester ordered. A fault that was ordered does not change the health of the receiver's callback. */
async function sendFaulty(deps: DeliveryDeps, claimed: Claimed, events: readonly EventRow[], sendOnce: () => Promise<Outcome>): Promise<Outcome> {
  const { row, isRetry } = claimed;
  const post = { delivery: row.id, callback: row.callback, fields: events.map(({ field }) => field), entity: row.entity, isRetry };
  const effect = await deps.faults.matchWebhook(post);
  const nowMs = deps.clock.nowMs();
  if (effect === "lose") return { kind: "failed", attempt: { time_ms: nowMs, error: "fault: lost" }, endedMs: nowMs };
  const reordered = { time_ms: nowMs, error: "fault: reordered" };
  // The fault `reorder` has the effect of a failed first attempt: later events of the same entity are delivered before this one.
  if (effect === "reorder") return failure(deps, claimed, reordered, false);
  if (effect === "follow") return { kind: "retry", attempt: reordered, dueMs: nowMs, isTimeout: false };
  if (effect === "batch") return { kind: "back" };
  const outcome = await sendOnce();
  if (outcome.kind !== "delivered") return outcome;
  deps.faults.delivered(post);
  // The result of a repeated POST is ignored, because the receiver has the delivery already.
  if (effect === "repeat") await sendOnce();
  return outcome;
}

/** Returns the delivery's events that are not erased. Most deliveries have only one event. */
function eventsOf({ row, members }: Claimed): readonly EventRow[] {
  const events = members.length === 0 ? [row] : [row, ...members];
  return events.some(({ payload }) => payload === ERASED) ? events.filter(({ payload }) => payload !== ERASED) : events;
}

async function send(
  deps: DeliveryDeps,
  claimed: Claimed,
  events: readonly EventRow[],
  url: string,
  secrets: readonly string[],
): Promise<AttemptedOutcome> {
  const { row } = claimed;
  const body = envelopeOf(
    row.object,
    events.map((event) => updateOf(deps.fields, event)),
  );
  const timestamp = Math.floor(deps.realNowMs() / 1000);
  const headers = signatureHeaders(secrets, { webhookId: `msg_${row.id}`, timestamp, body, hasSha1: deps.profile() === "clients" });
  // time: the latency of a receiver is measured in real time.
  let startMs = performance.now();
  const attempt = { time_ms: deps.clock.nowMs(), callback: row.callback, timestamp };
  const unanswered: Attempt[] = [];
  const failed = (error: RequestFailed): Attempt => ({ ...attempt, latency_ms: since(startMs), error: `${error.kind}: ${error.message}` });
  const onResend = (error: RequestFailed) => {
    unanswered.push(failed(error));
    // time: latencies are measured in real time.
    startMs = performance.now();
  };
  let outcome: AttemptedOutcome;
  try {
    const response = await deps.client.request({
      method: "POST",
      url,
      headers: { "Content-Type": "application/json", "User-Agent": "plaza", ...traceHeaders(deps.tracing), ...headers },
      body,
      deadlineMs: DEADLINE_MS,
      responseBytesMax: RESPONSE_BYTES_MAX,
      isStatusEnough: true,
      onResend,
    });
    const sent = { ...attempt, status: response.status, latency_ms: since(startMs) };
    outcome = responded(deps, claimed, response.body.length === 0 ? sent : { ...sent, answer: startOf(response.body) });
  } catch (error) {
    if (error instanceof CallbackRefused) outcome = failure(deps, claimed, { ...attempt, error: `refused: ${error.reason}` }, false);
    else if (error instanceof RequestFailed) outcome = failure(deps, claimed, failed(error), error.kind === "timeout");
    else throw error;
  }
  return unanswered.length === 0 ? outcome : { ...outcome, unanswered };
}

/** D-357: returns the headers with which the receiver can continue the trace. */
function traceHeaders(tracing: Tracing | undefined): Record<string, string> {
  const context = tracing?.current();
  if (context === undefined) return {};
  return { traceparent: context.traceparent, ...(context.tracestate === null ? {} : { tracestate: context.tracestate }) };
}

function responded(deps: DeliveryDeps, claimed: Claimed, attempt: Attempt & { readonly status: number }): AttemptedOutcome {
  const endedMs = deps.clock.nowMs();
  if (attempt.status >= 200 && attempt.status < 300) return { kind: "delivered", attempt, endedMs };
  // The delivery is not retried after a 410, because this status says that the receiver wants no more deliveries.
  return isGone(attempt) ? { kind: "failed", attempt, endedMs } : failure(deps, claimed, attempt, false);
}

function failure(deps: DeliveryDeps, { row, firstMs, isProbe }: Claimed, attempt: Attempt, isTimeout: boolean): AttemptedOutcome {
  if (isProbe) return { kind: "probed", attempt, isTimeout };
  const nowMs = deps.clock.nowMs();
  // random: retries of deliveries that failed together are spread over time.
  const dueMs = nextRetryMs({ firstMs, startedMs: attempt.time_ms, tries: row.tries + 1 }, nowMs, Math.random());
  return dueMs === undefined ? { kind: "failed", attempt, endedMs: nowMs } : { kind: "retry", attempt, dueMs, isTimeout };
}

// time: latencies are measured in real time.
const since = (startMs: number): number => Math.round((performance.now() - startMs) * 10) / 10;

const startOf = (body: Buffer): string => body.toString("utf8", 0, RESPONSE_KEPT_BYTES);

const updateOf = (fields: FieldCatalogue, { object, field, entity, time_ms, payload }: EventRow): Update => ({
  entity,
  timeMs: time_ms,
  field,
  carriedIn: fields.carriedIn({ object, field }),
  payload,
});

const opened = new WeakMap<WebhookApp, readonly string[]>();

/**
 * Returns the secrets that sign the deliveries of an app. Decrypting a sealed secret takes as long as computing a signature, so the decrypted secrets
 * are cached for each object `app`.
 */
export function secretsOf({ sealer, realNowMs }: Pick<DeliveryDeps, "sealer" | "realNowMs">, app: WebhookApp): readonly string[] {
  let secrets = opened.get(app);
  if (secrets === undefined) {
    secrets = [sealer.open(app.sealed_secret), ...(app.previous_secret === undefined ? [] : [sealer.open(app.previous_secret.sealed)])];
    opened.set(app, secrets);
  }
  return app.previous_secret !== undefined && app.previous_secret.until_ms <= realNowMs() ? secrets.slice(0, 1) : secrets;
}
