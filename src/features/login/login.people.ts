/** Finds the people who can log in: users at the main host, and social accounts at the host of the alternate flow. */
import type { World } from "#graph/worlds/world";
import { isNodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { PageRequest } from "#storage/keyset";

export interface KnownPerson {
  readonly kind: "person";
  readonly id: string;
  readonly name: string;
}

const known = (id: string, name: string): KnownPerson => ({ kind: "person", id, name });

export async function findPerson(reader: Reader, { ports }: World, isAccount: boolean, id: string): Promise<KnownPerson | undefined> {
  if (!isNodeId(id)) return undefined;
  if (!isAccount) {
    const user = await ports.get("user").findPerson(reader, id);
    return user === undefined ? undefined : known(user.id, user.name);
  }
  const account = await ports.get("social_account").findAccount(reader, id);
  // `findAccount` also finds an account by its social-scoped id, but a person can log in only with the account's own id.
  return account?.id === id ? known(account.id, account.username) : undefined;
}

export async function listPeople({ ports, database }: World, isAccount: boolean, page: PageRequest): Promise<readonly KnownPerson[]> {
  if (!isAccount) return (await ports.get("user").listPeople(database.reader, page)).map(({ id, name }) => known(id, name));
  return (await ports.get("social_account").listAccounts(database.reader, page)).map(({ id, username }) => known(id, username));
}
