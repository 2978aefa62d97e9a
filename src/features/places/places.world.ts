import { type Static, Type } from "typebox";
import { closedMap, described, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { type PlaceRow, placeTable } from "./places.store.ts";

/** The position of a place in degrees. */
const location = closedMap(
  {
    latitude: Type.Number({ minimum: -90, maximum: 90, description: "degrees north of the equator" }),
    longitude: Type.Number({ minimum: -180, maximum: 180, description: "degrees east of Greenwich" }),
  },
  "the position of the place",
);
const entry = closedMap(
  {
    id: described("the place's id", worldId),
    name: Type.String({ default: "", description: "the place's name" }),
    location: Type.Optional(location),
  },
  "a place that a live video can be at",
);

const rowOf = ({ location, ...rest }: Static<typeof entry>): PlaceRow => ({
  ...rest,
  location: location === undefined ? null : JSON.stringify(location),
});

export const placeSection = section({
  ...placeTable,
  key: "places",
  entry,
  insert: (tx, given) => placeTable.insert(tx, rowOf(given)),
  entryOf: (row: PlaceRow) => ({ ...row, location: row.location === null ? null : JSON.parse(row.location) }),
  replace: (tx, given) => placeTable.replace(tx, rowOf(given)),
});
