/** The part of the users feature that other features may import: the port `user`. */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { PageRequest } from "#storage/keyset";

interface UserPort {
  /** Returns people by their ids, as many as the page has. */
  listPeople(reader: Reader, page: PageRequest): Promise<readonly { readonly id: string; readonly name: string }[]>;
  findPerson(reader: Reader, id: NodeId): Promise<{ readonly id: string; readonly name: string } | undefined>;
}

declare module "#kernel/ports" {
  interface Ports {
    user: UserPort;
  }
}
