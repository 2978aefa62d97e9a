import { type Static, Type } from "typebox";
import { closedMap, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { deletePlace, findPlace, insertPlace, listPlaces, type PlaceRow, updatePlace } from "./places.store.ts";

/** The position of a place in degrees. */
const location = closedMap({ latitude: Type.Number({ minimum: -90, maximum: 90 }), longitude: Type.Number({ minimum: -180, maximum: 180 }) });
const entry = closedMap({ id: worldId, name: Type.String({ default: "" }), location: Type.Optional(location) });

const rowOf = ({ location, ...rest }: Static<typeof entry>): PlaceRow => ({
  ...rest,
  location: location === undefined ? null : JSON.stringify(location),
});

export const placeSection = section({
  key: "places",
  entry,
  insert: (tx, given) => insertPlace(tx, rowOf(given)),
  find: findPlace,
  list: listPlaces,
  entryOf: (row: PlaceRow) => ({ ...row, location: row.location === null ? null : JSON.parse(row.location) }),
  replace: (tx, given) => updatePlace(tx, rowOf(given)),
  remove: deletePlace,
});
