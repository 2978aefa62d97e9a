/** Whether a viewer may watch a live video (LIVE-16, LIVE-24, LIVE-27, LIVE-28). */

import { isLive, isPublished, isTakenDown } from "../lifecycle/states.ts";
import { START_DELAY_MS } from "../live-videos.limits.ts";
import type { LiveVideoRow } from "../live-videos.store.ts";
import { isOpenTo } from "./targeting.ts";

export interface Viewer {
  /** ISO 3166-1 in capitals; undefined: unknown. */
  readonly country: string | undefined;
  /** A browser on a phone or tablet. */
  readonly isMobileWeb: boolean;
}

export const refusalsToWatch = ["not_shown", "not_published", "not_in_this_country", "starting", "not_on_mobile_web_until_vod"] as const;
export type RefusalToWatch = (typeof refusalsToWatch)[number];

/** Undefined: the viewer may watch. */
export function refusalToWatch(row: LiveVideoRow, viewer: Viewer, nowMs: number): RefusalToWatch | undefined {
  if (isTakenDown(row.state)) return "not_shown";
  if (!isPublished(row.state)) return "not_published";
  // LIVE-24: the country is checked first, so that viewers elsewhere learn nothing else.
  if (!isOpenTo(row, viewer.country)) return "not_in_this_country";
  if (isLive(row.state) && row.broadcast_start_ms !== null && nowMs < row.broadcast_start_ms + START_DELAY_MS) return "starting";
  if (viewer.isMobileWeb && row.state !== "vod") return "not_on_mobile_web_until_vod";
  return undefined;
}
