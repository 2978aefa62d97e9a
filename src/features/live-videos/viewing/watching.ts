/** Decides whether a viewer may watch a live video, by the video's countries and state (LIVE-16, LIVE-24, LIVE-27, LIVE-28). */
import { isLive, isPublished, isTakenDown } from "../lifecycle/states.ts";
import { START_DELAY_MS } from "../live-videos.limits.ts";
import type { LiveVideoRow } from "../live-videos.store.ts";

/**
 * The countries where a live video may be watched (LIVE-24, D-51): the countries in `geo_locations` except the excluded countries. If `geo_locations`
 * has no countries, the video may be watched in all countries except the excluded countries.
 */
export interface Targeting {
  readonly geo_locations?: { readonly countries?: readonly string[] };
  readonly excluded_countries?: readonly string[];
}

/** The countries as the database stores them: codes between spaces, such as ` DE FR `, or an empty text. */
export interface TargetingColumns {
  readonly countries: string;
  readonly excluded_countries: string;
}

export const EVERYWHERE: TargetingColumns = { countries: "", excluded_countries: "" };

const joined = (codes: readonly string[]): string => (codes.length === 0 ? "" : ` ${[...new Set(codes)].sort().join(" ")} `);
const split = (text: string): string[] => text.split(" ").filter((code) => code !== "");

export const targetingColumnsOf = ({ geo_locations, excluded_countries = [] }: Targeting): TargetingColumns => ({
  countries: joined(geo_locations?.countries ?? []),
  excluded_countries: joined(excluded_countries),
});

export function targetingOf({ countries, excluded_countries }: TargetingColumns): Targeting | undefined {
  if (countries === "" && excluded_countries === "") return undefined;
  return {
    ...(countries === "" ? {} : { geo_locations: { countries: split(countries) } }),
    ...(excluded_countries === "" ? {} : { excluded_countries: split(excluded_countries) }),
  };
}

/**
 * Returns whether a video may be watched in a country. `country` is a country code in capitals. If the viewer's country is unknown, only videos
 * without targeting may be watched.
 */
export function isOpenTo({ countries, excluded_countries }: TargetingColumns, country: string | undefined): boolean {
  if (country === undefined) return countries === "" && excluded_countries === "";
  const code = ` ${country} `;
  return (countries === "" || countries.includes(code)) && !excluded_countries.includes(code);
}

export interface Viewer {
  /** The viewer's country as an ISO 3166-1 code in capitals; undefined if the country is unknown. */
  readonly country: string | undefined;
  /** Whether the viewer uses a browser on a phone or tablet. */
  readonly isMobileWeb: boolean;
}

export const refusalsToWatch = ["not_shown", "not_published", "not_in_this_country", "starting", "not_on_mobile_web_until_vod"] as const;
export type RefusalToWatch = (typeof refusalsToWatch)[number];

/** Returns why the viewer may not watch the video, or undefined if the viewer may watch. */
export function refusalToWatch(row: LiveVideoRow, viewer: Viewer, nowMs: number): RefusalToWatch | undefined {
  if (isTakenDown(row.state)) return "not_shown";
  if (!isPublished(row.state)) return "not_published";
  // LIVE-24: the country is checked before the checks below, so that viewers in excluded countries learn nothing more about the video.
  if (!isOpenTo(row, viewer.country)) return "not_in_this_country";
  if (isLive(row.state) && row.broadcast_start_ms !== null && nowMs < row.broadcast_start_ms + START_DELAY_MS) return "starting";
  if (viewer.isMobileWeb && row.state !== "vod") return "not_on_mobile_web_until_vod";
  return undefined;
}
