import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

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
  /** The position of the place: JSON `{latitude, longitude}` in degrees; null if it is not known. */
  location: string | null;
}

const select = sql`SELECT CAST(t.id AS TEXT) AS id, t.name, t.location FROM places t`;

export async function insertPlace(tx: Transaction, { id, name, location }: PlaceRow): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(id), type: "place", owner: nodeId(id) }))) return false;
  await tx.runOne(sql`INSERT INTO places (id, name, location) VALUES (${id}, ${name}, ${location})`);
  return true;
}

export const findPlace = (reader: Reader, id: string): Promise<PlaceRow | undefined> => reader.get<PlaceRow>(append(select, "WHERE t.id = ?", [id]));

const byId = ordered("ascending", "t.id");

export const listPlaces = (reader: Reader, page: PageRequest): Promise<ListPage<PlaceRow>> =>
  readPage<PlaceRow>(reader, append(select, "WHERE t.id > 0"), byId, page);

export async function updatePlace(tx: Transaction, { id, name, location }: PlaceRow): Promise<void> {
  await tx.runOne(sql`UPDATE places SET name = ${name}, location = ${location} WHERE id = ${id}`);
}

export async function deletePlace(tx: Transaction, id: NodeId): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM places WHERE id = ${id}`)) === 0) return false;
  await deleteNode(tx, id);
  return true;
}
