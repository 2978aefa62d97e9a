/** The problems of a world that need attention (D-279). Alerts are not stored, but computed when a caller requests the alerts. */
import { Type } from "typebox";
import { ALERTS_MAX, type Alert, alertLevels } from "#control-contract/alert";
import { EVENT_STREAM, wantsEvents, watchStream } from "#control-contract/event-stream";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import type { Registry } from "#graph/contract/registry";
import type { MarketingVersion } from "#graph/versions/calendar";
import type { Fault } from "#graph/worlds/fault-injection";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { RequestEntry } from "#graph/worlds/request-log";
import type { World } from "#graph/worlds/world";
import { listFailingJobs } from "#jobs/jobs.store";
import { unixSeconds } from "#kernel/clock";
import { isUnreachable } from "#kernel/errors";
import { formatVersion } from "#kernel/versions";
import type { DatabaseProblem } from "#storage/database-health";
import { type CallbackRow, listTroubled } from "#webhooks/callbacks/callbacks.store";
import { isGone, isHeld } from "#webhooks/callbacks/health";
import { countUnrouted, UNROUTED_MAX } from "#webhooks/history/retention.store";
import { featureAlerts } from "../../alert-log.ts";
import { deadlinesOf } from "../clock.ts";
import { type UsedVersion, usedVersions } from "../used-versions.ts";

/**
 * The interval at which alerts are computed. With this interval, people notice an alert soon enough, and the queries put little load on the database.
 */
export const ALERTS_EVERY_MS = 2_000;

export const alert = Type.Object({
  kind: Type.String({
    description:
      "database_ and a problem (unreachable, no_connection, too_slow, disk_full, disk_error, no_memory, locked, file_changed, file_damaged, stale_primary), callback_paused, callback_failing, no_callback, version_ends, requests_failed, rate_limited, fault, clock_stopped, job_failing, live_video, feed; later versions may add kinds",
  }),
  level: Type.Unsafe<Alert["level"]>({
    enum: [...alertLevels],
    description:
      "error: something is broken; warning: something is late or will break; notice: somebody did it on purpose, but it may surprise others",
  }),
  of: Type.String({
    description:
      "the id of the callback, app or fault, the key of the job, live video or feed, the trace id of the request, the name of the database in --databases, or the word database",
  }),
  text: Type.String({ description: "the problem, the cause, and how the problem ends" }),
  time: Type.Optional(
    Type.Number({ description: "world time in Unix seconds at which the problem began, or for version_ends at which the version ends" }),
  ),
});

/** Computes the alerts of a world, the worst first. */
export async function readAlerts({ deps, world }: ControlRequest): Promise<{ data: readonly Alert[]; paging: object }> {
  const { registry } = deps;
  const requests = world.requests.entries();
  const found = await Promise.all([
    webhookAlerts(world),
    versionAlerts(world, registry, requests),
    clockAlerts(world),
    jobAlerts(world),
    featureAlerts(registry, world),
  ]).catch((error: unknown) => {
    // If the database cannot be reached, the alerts that need the database are left out. The alert about the database
    // explains why other alerts are missing.
    if (isUnreachable(error)) return [];
    throw error;
  });
  const all = [...(await deps.databaseProblems()).map(databaseAlert), ...found.flat(), ...requestAlerts(world, requests), ...faultAlerts(world)];
  const rank = ({ level }: Alert): number => alertLevels.indexOf(level);
  return { data: all.sort((one, other) => rank(one) - rank(other)).slice(0, ALERTS_MAX), paging: {} };
}

export const alertRoutes: readonly ControlRoute[] = [
  route("GET /v1/worlds/{w}/alerts", "listAlerts", {
    summary: `Lists the problems that need attention: callbacks that are paused or fail, webhooks without a callback, versions that are used and end soon, requests that failed, live videos that are interrupted, faults, a clock that is stopped before something is due. The worst come first, ${ALERTS_MAX} at most; with Accept: text/event-stream, the list is sent again whenever it changes`,
    response: listOf(alert),
    streams: [EVENT_STREAM],
    handle: async (request) =>
      wantsEvents(request)
        ? watchStream(request, { event: "alerts", everyMs: ALERTS_EVERY_MS, look: () => readAlerts(request) })
        : readAlerts(request),
  }),
];

/**
 * D-341: makes an alert about the database. The text of the alert contains the time of the problem, because that time is real time and
 * the key `time` has world time.
 */
const databaseAlert = ({ kind, database, text, cause, count, since_ms }: DatabaseProblem): Alert => ({
  ...{ kind: `database_${kind}`, level: "error", of: database ?? "database" },
  text: `${database === undefined ? "" : `${database}: `}${text} ${countText(count, "met this problem")} since ${new Date(since_ms).toISOString()}; the last error: ${cause}`,
});

/** The age, in world time, up to which a request causes an alert. Requests that are older cause no alert, but are still in the list of requests. */
const RECENT_MS = 300_000;
const RATE_LIMITED = 429;
const FAILED_FROM = 500;

const countText = (count: number, what: string): string => (count === 1 ? `1 request ${what}` : `${count} requests ${what}`);

/** Makes alerts about the last requests, the newest first. */
function requestAlerts({ clock }: World, requests: readonly RequestEntry[]): readonly Alert[] {
  const now = clock.nowMs();
  const recent = requests.filter(({ time, status }) => status >= RATE_LIMITED && time > now - RECENT_MS && time <= now);
  const failed = recent.filter(({ status }) => status >= FAILED_FROM);
  const limited = Map.groupBy(
    recent.filter(({ status }) => status === RATE_LIMITED),
    ({ app = "" }) => app,
  );
  const [newest] = failed;
  return [
    ...(newest === undefined
      ? []
      : [
          {
            ...{ kind: "requests_failed", level: "error" as const, of: newest.trace_id, time: newest.time / 1000 },
            text: `${countText(failed.length, "failed")} in the last five minutes; the newest is ${newest.operation} with ${newest.status}.`,
          },
        ]),
    ...[...limited].map(([app, entries]): Alert => {
      const of = app === "" ? "callers without an app" : `app ${app}`;
      const time = (entries[0]?.time ?? now) / 1000;
      return {
        ...{ kind: "rate_limited", level: "warning", of: app, time },
        text: `${countText(entries.length, `of ${of}`)} met a rate limit in the last five minutes. Requests are served again when the limit recovers.`,
      };
    }),
  ];
}

const targetOf = (fault: Fault): string => {
  const name = "operation" in fault ? fault.operation : fault.webhook;
  const what = "operation" in fault ? "requests" : "webhooks";
  return name === "*" ? `any ${what}` : `${what} of ${name}`;
};

const faultAlerts = ({ faults }: World): readonly Alert[] =>
  faults.list().map((fault) => ({
    ...{ kind: "fault", level: "notice", of: fault.id },
    text: `Fault ${fault.id} is in effect for ${targetOf(fault)} and has affected ${fault.met}. Somebody created it on purpose; it ends when you delete it${fault.times === undefined ? "" : " or when it is used up"}.`,
  }));

/** The time before the end of a version from which an alert announces the end (LIM-14). */
const SOON_SECONDS = 90 * 86_400;

const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

async function versionAlerts(world: World, registry: Registry, requests: readonly RequestEntry[]): Promise<readonly Alert[]> {
  const now = unixSeconds(world.clock);
  const ending = world.calendar.marketing.filter(({ until }) => until !== undefined && until > now && until <= now + SOON_SECONDS);
  // If no version ends soon, which is the usual case, the requests need not be checked for their versions.
  if (ending.length === 0) return [];
  const used = await usedVersions(world, registry, requests);
  return ending.flatMap((version) => {
    const at = version.until as number;
    const changed = used.filter(({ asked, servedAt }) => asked === formatVersion(version.version) && servedAt(at) !== servedAt(now));
    return [...Map.groupBy(changed, ({ app }) => app)].map(([app, uses]) => versionAlert(version, at, app, uses));
  });
}

function versionAlert({ version }: MarketingVersion, at: number, app: string, uses: readonly UsedVersion[]): Alert {
  const later = uses.map(({ servedAt }) => servedAt(at));
  const refusal = later.find((served) => typeof served !== "string");
  const operations = uses.map(({ operation }) => operation).join(", ");
  const becomes = refusal === undefined ? `${later[0]} serves these requests` : "these requests are refused";
  return {
    // An app whose requests will be refused gets a warning. If another version will serve the app's requests, a notice is enough.
    ...{ kind: "version_ends", level: refusal === undefined ? "notice" : "warning", of: app, time: at },
    text: `App ${app} requests ${formatVersion(version)} of ${operations}. That version ends on ${dayOf(at)}; then ${becomes}.`,
  };
}

/** Whether the failure of a job needs attention. The failure of a job that only deletes old data needs no attention. */
const isMissed = ({ kind }: { readonly kind: string }): boolean => !kind.endsWith("_retention");

export async function clockAlerts(world: OpenWorld): Promise<readonly Alert[]> {
  if (!world.clock.isFrozen) return [];
  const due = (await deadlinesOf(world)).filter(isMissed);
  const [next] = due;
  if (next === undefined) return [];
  const others = due.length === 1 ? "" : `, and so do ${due.length - 1} more`;
  return [
    {
      ...{ kind: "clock_stopped", level: "notice", of: world.name, time: next.time },
      text: `The world's clock is stopped, so ${next.kind.replaceAll("_", " ")} of ${next.of}, due at ${new Date(next.time * 1000).toISOString()}, waits${others}. Let the clock run, or move it.`,
    },
  ];
}

/**
 * The number of failures at which the alert about a job becomes an error. After this number of failures, a job waits minutes before it runs again.
 */
const FAILURES_OF_ERROR = 3;

const jobAlerts = async ({ database: { reader } }: World): Promise<readonly Alert[]> =>
  (await listFailingJobs(reader, ALERTS_MAX)).map(({ kind, key, attempts, due_ms, last_error }) => ({
    ...{ kind: "job_failing", level: attempts < FAILURES_OF_ERROR ? "warning" : "error", of: key },
    text: `The job ${kind.replaceAll("_", " ")} of ${key} has failed ${attempts} times, and runs again at ${new Date(due_ms).toISOString()} of the world's time. The last error: ${last_error}`,
  }));

/** The last sentence of alerts about webhooks that wait. */
const WAITS = "New webhooks wait until you resume it";

function callbackAlert(callback: CallbackRow): Alert {
  const { id, url, app, failing_since_ms, alerted_ms, paused_ms } = callback;
  const name = `The callback ${url} of app ${app}`;
  if (paused_ms !== null) {
    const [level, text] = isHeld(callback)
      ? (["notice", `${name} is paused by a person. ${WAITS}.`] as const)
      : isGone(callback)
        ? (["error", `${name} is paused, because it returned 410. ${WAITS}.`] as const)
        : ([
            "error",
            `${name} is paused, because every attempt failed for five days. ${WAITS}, or until one of its hourly attempts succeeds.`,
          ] as const);
    return { kind: "callback_paused", level, of: id, text, time: paused_ms / 1000 };
  }
  const since = (failing_since_ms ?? 0) / 1000;
  // D-137: the alert becomes an error after the callback has failed for an hour, because a restart of the receiver takes less time.
  const level = alerted_ms === null ? "warning" : "error";
  return {
    kind: "callback_failing",
    level,
    of: id,
    text: `${name} fails. The webhooks of this callback are sent again; after five days the callback is paused.`,
    time: since,
  };
}

const waitText = (count: number): string =>
  count === 1 ? "1 webhook waits" : `${count >= UNROUTED_MAX ? `${count} webhooks and more` : `${count} webhooks`} wait`;

export async function webhookAlerts({ database: { reader } }: World): Promise<readonly Alert[]> {
  const callbacks = await listTroubled(reader, ALERTS_MAX);
  const unrouted = await countUnrouted(reader);
  return [
    ...callbacks.map(callbackAlert),
    ...unrouted.map(
      ({ app, count }): Alert => ({
        ...{ kind: "no_callback", level: "warning", of: app },
        text: `${waitText(count)} for a callback of app ${app}: the app has no verified callback.`,
      }),
    ),
  ];
}
