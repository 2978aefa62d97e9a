import { nodeTable } from "#graph/worlds/nodes.store";
import type { NodeId } from "#kernel/ids";
import type { Migration, Reader } from "#storage/database";
import type { Row } from "#storage/sql";

export const placeMigrations: readonly Migration[] = [
  { name: "tables", statements: ["CREATE TABLE places (id BIGINT PRIMARY KEY, name TEXT NOT NULL, location TEXT) WITHOUT ROWID"] },
];

interface PlacePort {
  exists(reader: Reader, place: NodeId): Promise<boolean>;
}

declare module "#kernel/ports" {
  interface Ports {
    place: PlacePort;
  }
}

export interface PlaceRow extends Row {
  id: string;
  name: string;
  /** The position of the place: JSON `{latitude, longitude}` in degrees; null if the place has no position. */
  location: string | null;
}

export const placeTable = nodeTable<PlaceRow>({ table: "places", nodeType: "place", columns: ["name", "location"] });
