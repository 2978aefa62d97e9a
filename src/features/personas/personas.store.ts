import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

export interface PersonaRow extends Row {
  id: string;
  page: string;
  name: string;
  profile_picture_url: string;
}

interface NewPersona {
  readonly name: string;
  readonly profile_picture_url: string;
}

const select = sql`SELECT CAST(p.id AS TEXT) AS id, CAST(p.page AS TEXT) AS page, p.name, p.profile_picture_url FROM personas p`;

export const findPersona = (reader: Reader, page: NodeId, id: string): Promise<PersonaRow | undefined> =>
  reader.get<PersonaRow>(append(select, "WHERE p.page = ? AND p.id = ?", [page, id]));

const newestFirst = ordered("descending", "p.id");

export const listPersonasOfPage = (reader: Reader, page: NodeId, request: PageRequest): Promise<ListPage<PersonaRow>> =>
  readPage<PersonaRow>(reader, append(select, "WHERE p.page = ?", [page]), newestFirst, request);

const oldestFirst = ordered("ascending", "p.page", "p.id");

/** Lists the personas of all pages, oldest first, for the control API. */
export const listAllPersonas = (reader: Reader, request: PageRequest): Promise<ListPage<PersonaRow>> =>
  readPage<PersonaRow>(reader, append(select, "WHERE p.page > 0"), oldestFirst, request);

/** Stores a new persona. Returns false, and stores nothing, if the persona's id is used already. */
export async function insertPersona(tx: Transaction, page: NodeId, id: NodeId, persona: NewPersona): Promise<boolean> {
  if (!(await insertNode(tx, { id, type: "persona", owner: page }))) return false;
  await tx.runOne(sql`
    INSERT INTO personas (page, id, name, profile_picture_url) VALUES (${page}, ${id}, ${persona.name}, ${persona.profile_picture_url})`);
  return true;
}

export async function updatePersona(tx: Transaction, page: NodeId, id: string, persona: NewPersona): Promise<void> {
  await tx.runOne(sql`
    UPDATE personas SET name = ${persona.name}, profile_picture_url = ${persona.profile_picture_url} WHERE page = ${page} AND id = ${id}`);
}

/** Deletes a persona. Returns false if the persona does not exist. */
export async function deletePersona(tx: Transaction, page: NodeId, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM personas WHERE page = ${page} AND id = ${id}`)) === 0) return false;
  await deleteNode(tx, nodeId(id));
  return true;
}

export async function deletePersonasOfPage(tx: Transaction, page: NodeId): Promise<void> {
  const personas = await tx.all<{ id: string }>(sql`SELECT CAST(p.id AS TEXT) AS id FROM personas p WHERE p.page = ${page}`);
  for (const { id } of personas) await deletePersona(tx, page, id);
}
