/** The place of a live video on the live map (C1-3, C1-6, D-51): the id of a place or page, a point, or both. */
import { textOf } from "#graph/pipeline/parameters";
import { JsonNumber } from "#graph/pipeline/request";
import { having, idText } from "#graph/schema/schema-node";
import { type GraphError, invalidParameter } from "#kernel/errors";
import { isNodeId, type NodeId } from "#kernel/ids";

export interface Place {
  readonly id?: NodeId;
  readonly location?: { readonly latitude: number; readonly longitude: number };
}

/** Degrees. */
const LATITUDE_MAX = 90;
const LONGITUDE_MAX = 180;

/** As documents say it. */
export const placeWords = {
  anyOf: [
    { type: "string", pattern: `${idText.pattern}|^$`, description: "the id of a place or page" },
    {
      type: "object",
      properties: {
        id: { type: "string", ...idText, description: "the id of a place or page" },
        location: {
          type: "object",
          required: ["latitude", "longitude"],
          properties: {
            latitude: { type: "number", minimum: -LATITUDE_MAX, maximum: LATITUDE_MAX },
            longitude: { type: "number", minimum: -LONGITUDE_MAX, maximum: LONGITUDE_MAX },
          },
        },
      },
      if: having("id"),
      else: having("location"),
    },
    { type: "null" },
  ],
} as const;

/**
 * `parse` reads an object that was sent as JSON text. Undefined: null, `null` in a form, or an empty text removes the place. Whether
 * the id exists is the caller's to check. Throws `invalidParameter`.
 */
export function readPlace(input: unknown, parse: (text: string) => unknown): Place | undefined {
  const value = typeof input === "string" && input.trimStart().startsWith("{") ? parse(input) : input;
  if (value === null || value === "null" || value === "") return undefined;
  if (typeof value === "string" || typeof value === "number") return { id: idOf(String(value), "place") };
  if (typeof value !== "object" || Array.isArray(value)) throw wrong("place");
  const { id, location } = value as { id?: unknown; location?: unknown };
  if (id === undefined && location === undefined) throw wrong("place");
  return {
    ...(id === undefined ? {} : { id: idOf(String(textOf(id)), "place.id") }),
    ...(location === undefined ? {} : { location: locationOf(location) }),
  };
}

const wrong = (name: string): GraphError => invalidParameter(name, "must be the id of a place, or an object with id or location{latitude,longitude}");

function idOf(text: string, name: string): NodeId {
  if (!isNodeId(text)) throw wrong(name);
  return text;
}

function locationOf(input: unknown): NonNullable<Place["location"]> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) throw wrong("place.location");
  const { latitude, longitude } = input as { latitude?: unknown; longitude?: unknown };
  return {
    latitude: degreesOf(latitude, LATITUDE_MAX, "place.location.latitude"),
    longitude: degreesOf(longitude, LONGITUDE_MAX, "place.location.longitude"),
  };
}

/** Of JSON a number with many digits is a `JsonNumber` in a form, and text in a body. */
function degreesOf(input: unknown, most: number, name: string): number {
  const text = input instanceof JsonNumber ? input.text : input;
  const isText = typeof text === "string" && /^[+-]?\d{1,3}(?:\.\d{0,20})?(?:[eE]-\d{1,2})?$/.test(text);
  const degrees = typeof text === "number" ? text : isText ? Number(text) : Number.NaN;
  if (!(Math.abs(degrees) <= most)) throw invalidParameter(name, `must be a number from -${most} to ${most}`);
  return degrees;
}
