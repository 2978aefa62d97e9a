import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";
import type { Status } from "./required-actions.states.ts";

export interface ActionRow extends Row {
  app: string;
  id: string;
  title: string;
  description: string | null;
  due_date: number | null;
  status: Status;
  status_time: number;
}

const select = sql`
  SELECT CAST(r.app AS TEXT) AS app, CAST(r.id AS TEXT) AS id, r.title, r.description, r.due_date, r.status, r.status_time FROM required_actions r`;

/** Lists the actions of an app, ordered by due date, then by id (D-50). Actions without a due date are last. */
export const listActionsOfApp = (reader: Reader, app: NodeId): Promise<ActionRow[]> =>
  reader.all<ActionRow>(append(select, "WHERE r.app = ? ORDER BY CASE WHEN r.due_date IS NULL THEN 1 ELSE 0 END, r.due_date, r.id", [app]));

export const findAction = (reader: Reader, app: NodeId, id: string): Promise<ActionRow | undefined> =>
  reader.get<ActionRow>(append(select, "WHERE r.app = ? AND r.id = ?", [app, id]));

const oldestFirst = ordered("ascending", "r.app", "r.id");

export const listAllActions = (reader: Reader, page: PageRequest): Promise<ListPage<ActionRow>> =>
  readPage<ActionRow>(reader, append(select, "WHERE r.app > 0"), oldestFirst, page);

/** Stores a new action. Returns false, and stores nothing, if the action's id is used already. */
export async function insertAction(tx: Transaction, action: ActionRow): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(action.id), type: "required_action", owner: nodeId(action.app) }))) return false;
  await saveAction(tx, action);
  return true;
}

export async function saveAction(tx: Transaction, { app, id, title, description, due_date, status, status_time }: ActionRow): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO required_actions (app, id, title, description, due_date, status, status_time)
    VALUES (${app}, ${id}, ${title}, ${description}, ${due_date}, ${status}, ${status_time})
    ON CONFLICT (app, id) DO UPDATE SET title = excluded.title, description = excluded.description, due_date = excluded.due_date,
      status = excluded.status, status_time = excluded.status_time`);
}

export async function deleteAction(tx: Transaction, app: NodeId, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM required_actions WHERE app = ${app} AND id = ${id}`)) === 0) return false;
  await deleteNode(tx, nodeId(id));
  return true;
}

export async function deleteActionsOfApp(tx: Transaction, app: NodeId): Promise<void> {
  for (const { id } of await listActionsOfApp(tx, app)) await deleteAction(tx, app, id);
}
