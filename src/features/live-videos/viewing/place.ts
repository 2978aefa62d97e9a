/** Reads the place of a live video on the live map (C1-3, C1-6, D-51). A place has the id of a place or page, a point, or both. */
import { type Static, Type } from "typebox";
import { having } from "#graph/schema/schema-node";
import { described, idOf, worldId } from "#graph/worlds/file/schema-words";

/** The schema of a latitude or longitude in degrees. */
const degrees = (most: number, description: string) => Type.Number({ minimum: -most, maximum: most, description });

const pointSchema = (others: { readonly additionalProperties?: false }) =>
  Type.Object(
    { latitude: degrees(90, "degrees north of the equator"), longitude: degrees(180, "degrees east of Greenwich") },
    { ...others, description: "a point on the map" },
  );

const placeSchema = (id: typeof worldId, others: { readonly additionalProperties?: false }) =>
  Type.Union([
    id,
    Type.Object({ id: Type.Optional(id), location: Type.Optional(pointSchema(others)) }, { ...others, anyOf: [having("id"), having("location")] }),
  ]);

const PLACE_ID = "the id of a place or page";

/** The schema of a place in a request. The handler checks that a place or page with the id exists. */
export const sentPlace = placeSchema(described(PLACE_ID, worldId), {});
/** The schema of a place in an entry of a world file. */
export const declaredPlace = placeSchema(described(PLACE_ID, idOf(["place", "page"])), { additionalProperties: false });

export type Place = Exclude<Static<typeof sentPlace>, string>;

export const placeOf = (given: Static<typeof sentPlace>): Place => (typeof given === "string" ? { id: given } : given);
