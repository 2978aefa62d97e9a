/** What needs somebody's attention in a world (D-279). Nothing is kept for it: it is read from what there is when somebody asks. */
import { Type } from "typebox";
import { ALERTS_MAX, type Alert, alertLevels } from "#control-contract/alert";
import { EVENT_STREAM, wantsEvents, watchStream } from "#control-contract/event-stream";
import { listOf } from "#control-contract/lists";
import type { ControlRequest, ControlRoute } from "#control-contract/route";
import { faultAlerts, requestAlerts } from "./request-alerts.ts";
import { clockAlerts, versionAlerts } from "./time-alerts.ts";
import { webhookAlerts } from "./webhook-alerts.ts";

/** Soon enough for people, and rare enough for the database. */
export const ALERTS_EVERY_MS = 2_000;

const alert = Type.Object({
  kind: Type.String({
    description:
      "callback_paused, callback_failing, no_callback, version_ends, requests_failed, rate_limited, fault, clock_stopped, live_video, feed; others may come",
  }),
  level: Type.Unsafe<Alert["level"]>({
    enum: [...alertLevels],
    description: "error: something is broken by now; warning: it will be, or comes late; notice: somebody has asked for it, and others may wonder",
  }),
  of: Type.String({ description: "what it is about: the id of a callback, an app, a fault, a live video or a feed, or the trace id of a request" }),
  text: Type.String({ description: "what is wrong, why, and what ends it" }),
  time: Type.Optional(Type.Number({ description: "world time in Unix seconds: since when, or of version_ends when it comes" })),
});

/** The worst first. */
export async function readAlerts({ deps: { registry }, world }: ControlRequest): Promise<{ data: readonly Alert[]; paging: object }> {
  const requests = world.requests.entries();
  const found = await Promise.all([
    webhookAlerts(world),
    versionAlerts(world, registry, requests),
    clockAlerts(world),
    ...registry.features.map((feature) => feature.alerts?.(world) ?? []),
  ]);
  const all = [...found.flat(), ...requestAlerts(world, requests), ...faultAlerts(world)];
  const rank = ({ level }: Alert): number => alertLevels.indexOf(level);
  return { data: all.sort((one, other) => rank(one) - rank(other)).slice(0, ALERTS_MAX), paging: {} };
}

export const alertRoutes: readonly ControlRoute[] = [
  {
    method: "GET",
    path: "/v1/worlds/{w}/alerts",
    operation: "listAlerts",
    summary: `What needs somebody's attention: callbacks that are paused or fail, webhooks without a callback, versions that are used and end soon, requests that failed, live videos that are interrupted, faults, a clock that is stopped before something is due. The worst first, ${ALERTS_MAX} at most; with Accept: text/event-stream, again whenever they change`,
    response: listOf(alert),
    streams: [EVENT_STREAM],
    errors: [404],
    handle: async (request) =>
      wantsEvents(request)
        ? watchStream(request, { event: "alerts", everyMs: ALERTS_EVERY_MS, look: () => readAlerts(request) })
        : readAlerts(request),
  },
];
