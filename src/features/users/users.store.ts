import { nodeTable } from "#graph/worlds/nodes.store";
import type { NodeId } from "#kernel/ids";
import type { Migration, Reader } from "#storage/database";
import type { PageRequest } from "#storage/keyset";
import type { Row } from "#storage/sql";

interface UserPort {
  /** Lists people ordered by id. The parameter `page` says how many people the function returns at most. */
  listPeople(reader: Reader, page: PageRequest): Promise<readonly { readonly id: string; readonly name: string }[]>;
  findPerson(reader: Reader, id: NodeId): Promise<{ readonly id: string; readonly name: string } | undefined>;
}

declare module "#kernel/ports" {
  interface Ports {
    user: UserPort;
  }
}

export const userMigrations: readonly Migration[] = [
  { name: "tables", statements: ["CREATE TABLE users (id BIGINT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID"] },
];

export interface UserRow extends Row {
  id: string;
  name: string;
}

export const userTable = nodeTable<UserRow>({ table: "users", nodeType: "user", columns: ["name"] });
