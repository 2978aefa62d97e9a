/** Alerts, each with a link to its cause. */
import { Link, linkOptions } from "@tanstack/react-router";
import type { Alert } from "../api/alerts.ts";
import { useWorldNow } from "../shell/clock.tsx";
import { useWorld } from "../shell/world.ts";
import { WorldTime } from "./texts.tsx";

export const LEVELS: Readonly<Record<Alert["level"], readonly [className: string, sign: string]>> = {
  error: ["bad", "✕"],
  warning: ["warn", "!"],
  notice: ["quiet", "•"],
};

const DAY = 86_400;
const dayAfter = (seconds: number): string => new Date(Math.ceil(seconds / DAY) * DAY * 1000).toISOString().slice(0, 10);

/** The view that shows the cause of an alert and can end the cause. */
function causeOf({ kind, of, time = 0 }: Alert) {
  switch (kind) {
    case "callback_paused":
    case "callback_failing":
      return { link: linkOptions({ to: "/webhooks", search: { callback: of, open: "callback" } }), name: "Callback" };
    case "no_callback":
      return { link: linkOptions({ to: "/webhooks", search: { status: "waiting" } }), name: "Waiting webhooks" };
    case "version_ends":
      return { link: linkOptions({ to: "/versions", search: { at: dayAfter(time) } }), name: "Effect" };
    case "requests_failed":
      return { link: linkOptions({ to: "/requests", search: { status: "5", request: of } }), name: "The newest" };
    case "rate_limited":
      return { link: linkOptions({ to: "/requests", search: { status: "4", ...(of === "" ? {} : { app: of }) } }), name: "The requests" };
    case "fault":
      return { link: linkOptions({ to: "/faults", search: {} }), name: "Faults" };
    case "clock_stopped":
      return { link: linkOptions({ to: "/time", search: {} }), name: "The clock" };
    case "live_video":
      return { link: linkOptions({ to: "/live", search: { video: of } }), name: "The broadcast" };
    case "feed":
      return { link: linkOptions({ to: "/feeds", search: { feed: of } }), name: "The feed" };
    default:
      return undefined;
  }
}

export function AlertList({ alerts, onFollowed }: { readonly alerts: readonly Alert[]; readonly onFollowed?: () => void }) {
  const now = useWorldNow(useWorld())?.now ?? 0;
  return (
    <ul className="alerts">
      {alerts.map((alert) => {
        const [className, sign] = LEVELS[alert.level];
        const cause = causeOf(alert);
        return (
          <li key={`${alert.kind} ${alert.of} ${alert.time}`}>
            <span className={className}>
              <span aria-hidden="true">{sign}</span>
              <span className="hidden">{alert.level}</span>
            </span>
            <span>
              {alert.text}{" "}
              {alert.time !== undefined && (
                <span className="quiet">
                  {alert.time > now ? "" : "since "}
                  <WorldTime seconds={Math.floor(alert.time)} />
                </span>
              )}
            </span>
            {cause !== undefined && (
              <Link {...cause.link} onClick={onFollowed}>
                {cause.name}
              </Link>
            )}
          </li>
        );
      })}
    </ul>
  );
}
