/** Reads the place of a live video on the live map (C1-3, C1-6, D-51). A place has the id of a place or page, a point, or both. */
import { type Static, Type } from "typebox";
import { having } from "#graph/schema/schema-node";
import { idOf, worldId } from "#graph/worlds/file/schema-words";
import type { NodeId } from "#kernel/ids";

/** The schema of a latitude or longitude in degrees. */
const degrees = (most: number) => Type.Number({ minimum: -most, maximum: most });

const placeSchema = (id: typeof worldId, others: { readonly additionalProperties?: false }) =>
  Type.Union([
    id,
    Type.Object(
      { id: Type.Optional(id), location: Type.Optional(Type.Object({ latitude: degrees(90), longitude: degrees(180) }, others)) },
      { ...others, anyOf: [having("id"), having("location")] },
    ),
  ]);

/** The place in a request. The handler checks that a place or page with the id exists. */
export const sentPlace = placeSchema(Type.Unsafe<NodeId>({ ...worldId, description: "the id of a place or page" }), {});
/** The place in an entry of a world file. */
export const declaredPlace = placeSchema(idOf(["place", "page"]), { additionalProperties: false });

export type Place = Exclude<Static<typeof sentPlace>, string>;

export const placeOf = (given: Static<typeof sentPlace>): Place => (typeof given === "string" ? { id: given } : given);
