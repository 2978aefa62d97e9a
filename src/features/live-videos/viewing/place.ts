/** Where a live video stands on the live map (C1-3, C1-6, D-51): a place by its id, a point, or both. */
import { type GraphError, invalidParameter } from "#kernel/errors";
import { isNodeId } from "#kernel/ids";

export interface Place {
  readonly id?: string;
  readonly location?: { readonly latitude: number; readonly longitude: number };
}

/** Degrees. */
const LATITUDE_MAX = 90;
const LONGITUDE_MAX = 180;

/** `parse` reads an object that came as JSON text. Undefined: the place is taken away (empty text). Throws `invalidParameter`. */
export function readPlace(given: unknown, parse: (text: string) => unknown): Place | undefined {
  const value = typeof given === "string" && given.trimStart().startsWith("{") ? parse(given) : given;
  if (value === "") return undefined;
  if (typeof value === "string" || typeof value === "number") return { id: idOf(String(value), "place") };
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong("place");
  const { id, location } = value as { id?: unknown; location?: unknown };
  if (id === undefined && location === undefined) throw wrong("place");
  return {
    ...(id === undefined ? {} : { id: idOf(String(id), "place.id") }),
    ...(location === undefined ? {} : { location: locationOf(location) }),
  };
}

const wrong = (name: string): GraphError => invalidParameter(name, "must be the id of a place, or an object with id or location{latitude,longitude}");

function idOf(text: string, name: string): string {
  if (!isNodeId(text)) throw wrong(name);
  return text;
}

function locationOf(given: unknown): NonNullable<Place["location"]> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw wrong("place.location");
  const { latitude, longitude } = given as { latitude?: unknown; longitude?: unknown };
  return {
    latitude: degreesOf(latitude, LATITUDE_MAX, "place.location.latitude"),
    longitude: degreesOf(longitude, LONGITUDE_MAX, "place.location.longitude"),
  };
}

/** Numbers with many digits arrive as text. */
function degreesOf(given: unknown, most: number, name: string): number {
  const isText = typeof given === "string" && /^[+-]?\d{1,3}(?:\.\d{0,20})?$/.test(given);
  const degrees = typeof given === "number" ? given : isText ? Number(given) : Number.NaN;
  if (!(Math.abs(degrees) <= most)) throw invalidParameter(name, `must be a number from -${most} to ${most}`);
  return degrees;
}
