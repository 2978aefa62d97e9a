/** Requests that failed or were too many, and faults on purpose. */
import type { Alert } from "#control-contract/alert";
import type { Fault } from "#graph/worlds/fault-injection";
import type { RequestEntry } from "#graph/worlds/request-log";
import type { World } from "#graph/worlds/world";

/** World time. What is longer ago is history, which the log of requests shows. */
const RECENT_MS = 300_000;
const RATE_LIMITED = 429;
const FAILED_FROM = 500;

const countText = (count: number, what: string): string => (count === 1 ? `1 request ${what}` : `${count} requests ${what}`);

/** Of the last ones, the newest first. */
export function requestAlerts({ clock }: World, requests: readonly RequestEntry[]): readonly Alert[] {
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
        text: `${countText(entries.length, `of ${of}`)} met a rate limit in the last five minutes. It passes as the limit fills again.`,
      };
    }),
  ];
}

const targetOf = (fault: Fault): string => {
  const name = "operation" in fault ? fault.operation : fault.webhook;
  const what = "operation" in fault ? "requests" : "webhooks";
  return name === "*" ? `any ${what}` : `${what} of ${name}`;
};

export const faultAlerts = ({ faults }: World): readonly Alert[] =>
  faults.list().map((fault) => ({
    ...{ kind: "fault", level: "notice", of: fault.id },
    text: `Fault ${fault.id} is in effect for ${targetOf(fault)}; ${fault.met} met it. It is on purpose and ends when it is deleted${fault.times === undefined ? "" : " or used up"}.`,
  }));
