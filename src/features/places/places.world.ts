import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { worldId } from "#graph/worlds/file/schema-words";
import { nodeId } from "#kernel/ids";
import { deletePlace, findPlace, insertPlace, listPlaces, type PlaceRow, updatePlace } from "./places.store.ts";

const closed = { additionalProperties: false };
/** Degrees. */
const location = Type.Object(
  { latitude: Type.Number({ minimum: -90, maximum: 90 }), longitude: Type.Number({ minimum: -180, maximum: 180 }) },
  closed,
);
const entry = Type.Object({ id: worldId, name: Type.String({ default: "" }), location: Type.Optional(location) }, closed);

const rowOf = (input: WorldEntry): PlaceRow => {
  const { id, name, location } = input as Static<typeof entry>;
  return { id, name, location: location === undefined ? null : JSON.stringify(location) };
};

const entryOf = ({ id, name, location }: PlaceRow): WorldEntry => ({
  ...{ id, name },
  ...(location === null ? {} : { location: JSON.parse(location) }),
});

export const placeSection: WorldSection = {
  key: "places",
  entry,
  references: () => [],
  insert: (tx, input) => insertPlace(tx, rowOf(input)),
  async find(reader, id) {
    const row = await findPlace(reader, id);
    return row === undefined ? undefined : entryOf(row);
  },
  async list(reader, page) {
    const found = await listPlaces(reader, page);
    return { ...found, rows: found.rows.map(entryOf) };
  },
  replace: (tx, input) => updatePlace(tx, rowOf(input)),
  remove: (tx, id) => deletePlace(tx, nodeId(id)),
};
