/**
 * Where a live video may be watched (LIVE-24, D-51): in the countries of `geo_locations`, or everywhere when it names none, but
 * in no excluded one.
 */
import { type GraphError, invalidParameter } from "#kernel/errors";
import { countryOf } from "./countries.ts";

export interface Targeting {
  readonly geo_locations?: { readonly countries: readonly string[] };
  readonly excluded_countries?: readonly string[];
}

/** As a row holds them: ` DE FR `, or empty. */
export interface Borders {
  readonly countries: string;
  readonly excluded_countries: string;
}

export const NO_BORDERS: Borders = { countries: "", excluded_countries: "" };

const joined = (codes: readonly string[]): string => (codes.length === 0 ? "" : ` ${[...new Set(codes)].sort().join(" ")} `);
const split = (text: string): string[] => text.split(" ").filter((code) => code !== "");

/** A targeting that was given, checked: a gate that is silently left open would be worse than a refusal. */
export function bordersOf(given: Readonly<Record<string, unknown>>, refuse: (path: string, problem: string) => Error = refused): Borders {
  for (const key of Object.keys(given)) {
    if (key !== "geo_locations" && key !== "excluded_countries") throw refuse(key, "is no targeting that live videos have");
  }
  const locations = (given.geo_locations ?? {}) as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(locations))
    if (key !== "countries") throw refuse(`geo_locations.${key}`, "is no place that live videos are targeted to");
  return {
    countries: joined(codesOf(locations.countries, "geo_locations.countries", refuse)),
    excluded_countries: joined(codesOf(given.excluded_countries, "excluded_countries", refuse)),
  };
}

const refused = (path: string, problem: string): GraphError => invalidParameter(`targeting.${path}`, problem);

function codesOf(given: unknown, path: string, refuse: (path: string, problem: string) => Error): string[] {
  return ((given ?? []) as readonly string[]).map((text, index) => {
    const code = countryOf(text);
    if (code === undefined) throw refuse(`${path}[${index}]`, "is no country code of ISO 3166-1, such as DE");
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

/** Who comes from nobody knows where sees only what is shown everywhere. `country`: a code in capitals. */
export function isOpenTo({ countries, excluded_countries }: Borders, country: string | undefined): boolean {
  if (country === undefined) return countries === "" && excluded_countries === "";
  const code = ` ${country} `;
  return (countries === "" || countries.includes(code)) && !excluded_countries.includes(code);
}
