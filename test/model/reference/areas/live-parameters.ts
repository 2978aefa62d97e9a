/** Reads the geographic place, the audience and the sharing of a live video from a request (D-113). */
import type { LiveVideo } from "../nodes.ts";
import type { Turn } from "../operations.ts";
import { asObject, asText, inBody, parameter } from "../requests.ts";

/** The countries that histories use. */
export const COUNTRIES: readonly string[] = ["DE", "FR", "US"];

/** D-34: a number, also as a text, because a form with names in brackets has texts for numbers. */
const numberOf = (value: unknown): unknown => (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value);

const isDegrees = (value: unknown, most: number): boolean => typeof value === "number" && Math.abs(value) <= most;

function isLocation(value: unknown): boolean {
  const { latitude, longitude } = asObject(value) ?? {};
  return value === undefined || (isDegrees(latitude, 90) && isDegrees(longitude, 180));
}

/**
 * The geographic place in the request; undefined if the request has no place, false if the value is not a place. The value undefined for the place
 * removes it from the video.
 */
export function readPlace({ world, request }: Turn): { readonly place: unknown } | false | undefined {
  const isNull = request.body !== undefined && Object.hasOwn(request.body.fields, "place") && request.body.fields.place === null;
  const given = inBody(request, "place") ?? (isNull ? null : parameter(request, "place"));
  if (given === undefined) return undefined;
  world.reach("livePlace");
  if (given === null || given === "null" || given === "") return { place: undefined };
  const place = asObject(given) ?? { id: asText(given) };
  const { id, location: point } = place;
  const location =
    point === undefined
      ? undefined
      : { ...asObject(point), latitude: numberOf(asObject(point)?.latitude), longitude: numberOf(asObject(point)?.longitude) };
  const isKnown = id === undefined ? location !== undefined : world.places.has(String(id)) || world.pages.has(String(id));
  return isKnown && isLocation(location) ? { place: location === undefined ? place : { ...place, location } } : false;
}

const isCountries = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((code) => COUNTRIES.includes(code as string));

/** The countries in the request; false if the value is not a valid targeting of live videos. */
export function readTargeting({ world, request }: Turn): Partial<Pick<LiveVideo, "countries" | "excluded_countries">> | false {
  const given = parameter(request, "targeting");
  if (given === undefined) return {};
  world.reach("liveTargeting");
  const { geo_locations, excluded_countries = [], ...others } = asObject(given) ?? { none: given };
  const { countries = [], ...otherPlaces } = asObject(geo_locations ?? {}) ?? { none: geo_locations };
  const isOther = Object.keys(others).length + Object.keys(otherPlaces).length > 0;
  return !isOther && isCountries(countries) && isCountries(excluded_countries) ? { countries, excluded_countries } : false;
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** The pages that share the video after the request; false if it names a page that may not share. */
export function readCrossposting({ world, request, tokens }: Turn, { page, crossposted }: LiveVideo): readonly string[] | false {
  const given = parameter(request, "crossposting_actions");
  if (given === undefined) return crossposted;
  world.reach("liveCrossposting");
  const actions = parsed(given);
  if (!Array.isArray(actions)) return false;
  const pages = new Set(crossposted);
  for (const { page_id: other, action = "enable_crossposting" } of actions as { page_id: string; action?: string }[]) {
    const role = world.pages.get(other)?.roles.find(({ user }) => user === tokens[0].user);
    if (other === page) return false;
    if (action === "disable_crossposting") pages.delete(other);
    else if (pages.has(other) || role?.tasks.includes("CREATE_CONTENT") === true) pages.add(other);
    else return false;
  }
  return [...pages];
}
