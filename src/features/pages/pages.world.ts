import { type Static, Type } from "typebox";
import { pageTasks } from "#auth/page-tasks";
import type { Erased, WorldEntry, WorldSection } from "#graph/contract/feature";
import { TakenProblem, worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { isNodeId, type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import {
  deletePage,
  deletePerson,
  deleteRole,
  findPage,
  insertPage,
  insertPerson,
  listPages,
  listPeople,
  listRoles,
  type PageRow,
  renamePage,
  renamePerson,
  saveRole,
} from "./pages.store.ts";

const entry = Type.Object(
  {
    id: worldId,
    name: Type.Optional(Type.String()),
    people: Type.Optional(Type.Array(Type.Object({ psid: worldId, name: Type.Optional(Type.String()) }, { additionalProperties: false }))),
    roles: Type.Optional(
      Type.Array(
        Type.Object(
          {
            user: worldId,
            tasks: Type.Optional(Type.Array(Type.Union(pageTasks.map((task) => Type.Literal(task))))),
            via_business: Type.Optional(Type.Boolean()),
          },
          { additionalProperties: false },
        ),
      ),
    ),
    /** The apps that receive webhooks of the page (D-60). */
    subscribed_apps: Type.Array(Type.Object({ app: worldId, subscribed_fields: Type.Array(Type.String()) }, { additionalProperties: false }), {
      default: [],
    }),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof entry>;

async function entryOf(reader: Reader, row: PageRow, world: World): Promise<WorldEntry> {
  const id = nodeId(row.id);
  const subscribed_apps = await world.ports.get("webhook_subscription").listOfPage(reader, id);
  return { id, name: row.name, people: await listPeople(reader, id), roles: await listRoles(reader, id), subscribed_apps };
}

async function saveRoles(tx: Transaction, page: NodeId, roles: Entry["roles"]): Promise<void> {
  for (const { user, tasks = [], via_business = false } of roles ?? [])
    await saveRole(tx, page, { user: String(user), tasks: [...tasks], via_business });
}

async function endRole(tx: Transaction, page: NodeId, user: NodeId, world: World): Promise<void> {
  await deleteRole(tx, page, user);
  await world.tokens.endPageTokens(tx, page, user, unixSeconds(world.clock));
}

async function addPerson(tx: Transaction, page: NodeId, psid: NodeId, name: string, index: number): Promise<void> {
  if (!(await insertPerson(tx, page, psid, name))) throw new TakenProblem(`people[${index}].psid`, `${psid} is taken`);
}

/** A person of a page, with the labels that they have (D-172). */
export async function erasePerson(world: World, ids: readonly string[]): Promise<Erased> {
  let people = 0;
  for (const psid of ids.filter(isNodeId)) {
    await world.database.write(async (tx) => {
      const node = await findNode(tx, psid);
      if (node?.type !== "page_person") return;
      await world.ports.get("label_writes").detachAll(tx, node.owner, psid);
      await deletePerson(tx, node.owner, psid);
      people++;
    });
  }
  return { people };
}

async function insert(tx: Transaction, input: WorldEntry, world: World): Promise<boolean> {
  const { id, name = "", people, roles, subscribed_apps } = input as Entry;
  const page = nodeId(String(id));
  if (!(await insertPage(tx, page, name))) return false;
  for (const [index, { psid, name: personName = "" }] of (people ?? []).entries()) await addPerson(tx, page, psid, personName, index);
  await saveRoles(tx, page, roles);
  if (subscribed_apps.length > 0) await world.ports.get("webhook_subscription_writes").saveOfPage(tx, page, subscribed_apps, world);
  return true;
}

async function replace(tx: Transaction, input: WorldEntry, world: World): Promise<void> {
  const { id, name = "", people = [], roles, subscribed_apps } = input as Entry;
  const page = nodeId(String(id));
  await renamePage(tx, page, name);
  const wanted = new Set<string>(people.map(({ psid }) => psid));
  const known = new Set((await listPeople(tx, page)).map(({ psid }) => psid));
  for (const psid of known) {
    if (wanted.has(psid)) continue;
    await world.ports.get("label_writes").detachAll(tx, page, psid);
    await deletePerson(tx, page, psid);
  }
  for (const [index, { psid, name: personName = "" }] of people.entries()) {
    if (known.has(psid)) await renamePerson(tx, page, psid, personName);
    else await addPerson(tx, page, psid, personName, index);
  }
  for (const { user } of await listRoles(tx, page)) {
    if (roles?.some((kept) => kept.user === user) !== true) await endRole(tx, page, nodeId(user), world);
  }
  await saveRoles(tx, page, roles);
  await world.ports.get("webhook_subscription_writes").saveOfPage(tx, page, subscribed_apps, world);
}

export const pageSection: WorldSection = {
  key: "pages",
  entry,
  references: (input) => {
    const { roles = [], subscribed_apps } = input as Entry;
    return [
      ...roles.map(({ user }, index) => ({ path: `roles[${index}].user`, types: ["user"], id: String(user) })),
      ...subscribed_apps.map(({ app }, index) => ({ path: `subscribed_apps[${index}].app`, types: ["app"], id: app })),
    ];
  },
  insert,
  replace,
  async find(reader, id, world) {
    const row = await findPage(reader, id);
    return row === undefined ? undefined : entryOf(reader, row, world);
  },
  async list(reader, page, world) {
    const found = await listPages(reader, page);
    return { ...found, rows: await Promise.all(found.rows.map((row) => entryOf(reader, row, world))) };
  },
  remove: (tx, id) => deletePage(tx, nodeId(id)),
};
