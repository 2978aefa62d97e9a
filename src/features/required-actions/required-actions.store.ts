import { ownedNodeTable } from "#graph/worlds/nodes.store";
import type { NodeId } from "#kernel/ids";
import type { Migration, Reader } from "#storage/database";
import { append, type Row } from "#storage/sql";
import type { Status } from "./required-actions.states.ts";

export const requiredActionMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE required_actions (
        app BIGINT NOT NULL, id BIGINT NOT NULL, title TEXT NOT NULL, description TEXT, due_date BIGINT, status TEXT NOT NULL,
        status_time BIGINT NOT NULL, PRIMARY KEY (app, id)
      ) WITHOUT ROWID`,
    ],
  },
];

export interface ActionRow extends Row {
  app: string;
  id: string;
  title: string;
  description: string | null;
  due_date: number | null;
  status: Status;
  status_time: number;
}

export const actionTable = ownedNodeTable<ActionRow>({
  table: "required_actions",
  nodeType: "required_action",
  owner: "app",
  columns: ["title", "description", "due_date", "status", "status_time"],
});

/** Lists the actions of an app, ordered by due date, then by id (D-50). Actions without a due date come at the end of the list. */
export const listActionsOfApp = (reader: Reader, app: NodeId): Promise<ActionRow[]> =>
  reader.all<ActionRow>(
    append(actionTable.select, "WHERE t.app = ? ORDER BY CASE WHEN t.due_date IS NULL THEN 1 ELSE 0 END, t.due_date, t.id", [app]),
  );
