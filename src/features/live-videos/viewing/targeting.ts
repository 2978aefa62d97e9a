/**
 * The countries where a live video may be watched (LIVE-24, D-51): those of `geo_locations`, or all when it names none, except
 * the excluded ones.
 */
import { type GraphError, invalidParameter } from "#kernel/errors";
import { countryOf } from "./countries.ts";

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
