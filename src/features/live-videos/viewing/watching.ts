/** Where a live video may be watched, and whether a viewer may watch it (LIVE-16, LIVE-24, LIVE-27, LIVE-28). */

import { SHAPE_OF } from "#graph/schema/schema-node";
import { type GraphError, invalidParameter } from "#kernel/errors";
import { isLive, isPublished, isTakenDown } from "../lifecycle/states.ts";
import { START_DELAY_MS } from "../live-videos.limits.ts";
import type { LiveVideoRow } from "../live-videos.store.ts";

/** ISO 3166-1 alpha-2, as of 2024. Unknown codes are refused, because nobody would notice that they have no effect (D-113). */
const CODES = `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR
  CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU
  ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ
  MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI
  SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`;

const countries: ReadonlySet<string> = new Set(CODES.trim().split(/\s+/));

/** As documents say it; small letters are taken too. */
export const countryCode = { type: "string", enum: [...countries], [SHAPE_OF]: "country" } as const;

/** The code in capitals, or undefined when it is no country's. */
export function countryOf(text: string): string | undefined {
  const code = text.toUpperCase();
  return countries.has(code) ? code : undefined;
}

/**
 * The countries where a live video may be watched (LIVE-24, D-51): those of `geo_locations`, or all when it names none, except
 * the excluded ones.
 */
export interface Targeting {
  readonly geo_locations?: { readonly countries: readonly string[] };
  readonly excluded_countries?: readonly string[];
}

/** In the form of a row: ` DE FR `, or empty. */
export interface Borders {
  readonly countries: string;
  readonly excluded_countries: string;
}

export const NO_BORDERS: Borders = { countries: "", excluded_countries: "" };

const joined = (codes: readonly string[]): string => (codes.length === 0 ? "" : ` ${[...new Set(codes)].sort().join(" ")} `);
const split = (text: string): string[] => text.split(" ").filter((code) => code !== "");

/** Validates a targeting. Unknown properties are refused, because ignoring them could open a video to every country (D-113). */
export function bordersOf(input: Readonly<Record<string, unknown>>, refuse: (path: string, problem: string) => Error = refused): Borders {
  for (const key of Object.keys(input)) {
    if (key !== "geo_locations" && key !== "excluded_countries") throw refuse(key, "is not a targeting of live videos");
  }
  const locations = (input.geo_locations ?? {}) as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(locations))
    if (key !== "countries") throw refuse(`geo_locations.${key}`, "is not a location that live videos can be targeted to");
  return {
    countries: joined(codesOf(locations.countries, "geo_locations.countries", refuse)),
    excluded_countries: joined(codesOf(input.excluded_countries, "excluded_countries", refuse)),
  };
}

const refused = (path: string, problem: string): GraphError => invalidParameter(`targeting.${path}`, problem);

function codesOf(input: unknown, path: string, refuse: (path: string, problem: string) => Error): string[] {
  return ((input ?? []) as readonly string[]).map((text, index) => {
    const code = countryOf(text);
    if (code === undefined) throw refuse(`${path}[${index}]`, "must be a country code of ISO 3166-1, such as DE");
    return code;
  });
}

export function targetingOf({ countries, excluded_countries }: Borders): Targeting | undefined {
  if (countries === "" && excluded_countries === "") return undefined;
  return {
    ...(countries === "" ? {} : { geo_locations: { countries: split(countries) } }),
    ...(excluded_countries === "" ? {} : { excluded_countries: split(excluded_countries) }),
  };
}

/** `country` is a code in capitals. A viewer of unknown country may watch only videos without targeting. */
export function isOpenTo({ countries, excluded_countries }: Borders, country: string | undefined): boolean {
  if (country === undefined) return countries === "" && excluded_countries === "";
  const code = ` ${country} `;
  return (countries === "" || countries.includes(code)) && !excluded_countries.includes(code);
}

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
