/** The work that is scheduled next in a world. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, dataOf } from "../../api/client.ts";

/** The text that is shown for each kind of scheduled work. */
const KINDS: Readonly<Record<string, string>> = {
  webhook_retry: "a webhook is sent again to",
  webhook_retention: "old webhooks are deleted:",
  webhook_callback_alert: "a callback that still fails becomes an alert:",
  webhook_reroute: "waiting webhooks move to another callback:",
  webhook_unsubscribe: "webhooks of an app that unsubscribed end:",
  live_video_deadline: "a deadline of the live video",
  live_recording_removal: "the recording of a deleted live video is removed:",
  feed_fetch: "the file of a feed is fetched:",
  feed_ingestion: "the file of an upload is read:",
  app_event_retention: "old raw app events are deleted:",
};

export const deadlineText = (kind: string): string => KINDS[kind] ?? `${kind.replaceAll("_", " ")} of`;

export const secondsLeft = (seconds: number): string => {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(1)} h` : `${Math.round(seconds / 86_400)} days`;
};

/**
 * The next deadlines of a world; undefined until the console has read them. The console reads the list of deadlines again once the first
 * deadline of the list has passed.
 */
export function useDeadlines(w: string, now: number) {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ["deadlines", w],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/clock/deadlines", { params: { path: { w } } })),
  });
  const next = data?.data.filter(({ time }) => time > now);
  const passed = (data?.data.length ?? 0) - (next?.length ?? 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one has passed.
  useEffect(() => void client.invalidateQueries({ queryKey: ["deadlines", w] }), [client, w, passed]);
  return next;
}
