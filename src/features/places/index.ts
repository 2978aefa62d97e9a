/** The public API of the places feature, which stores the places of live videos. */
import { nobody } from "#auth/policy";
import { defineFeature } from "#graph/contract/feature";
import { placeMigrations, placeTable } from "./places.store.ts";
import { placeSection } from "./places.world.ts";

export const places = defineFeature({
  name: "places",
  migrations: placeMigrations,
  nodeTypes: [{ type: "place", policy: nobody }],
  worldSections: [placeSection],
  ports: () => ({ place: { exists: async (reader, place) => (await placeTable.find(reader, place)) !== undefined } }),
});
