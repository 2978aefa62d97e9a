import { type Static, Type } from "typebox";
import { pageTasks } from "#auth/page-policies";
import type { Erased } from "#graph/contract/feature";
import { closedMap, described, idOf, TakenProblem, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { isNodeId, type NodeId, nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import {
  deletePage,
  deletePerson,
  deleteRole,
  insertPerson,
  listPeople,
  listRoles,
  type PageRow,
  pageTable,
  renamePerson,
  saveRole,
} from "./pages.store.ts";

const person = closedMap({
  psid: described("the person's page-scoped id, which differs from page to page", worldId),
  name: Type.String({ default: "", description: "the person's name" }),
});
const role = closedMap({
  user: described("the id of the user who has the role", idOf("user")),
  tasks: Type.Array(Type.Union(pageTasks.map((task) => Type.Literal(task))), { default: [], description: "the tasks that the person may do" }),
  via_business: Type.Boolean({ default: false, description: "whether the person got the role through a business; some reads then need more scopes" }),
});

// D-60: an app that is subscribed to the webhooks of the page.
const subscribed = closedMap({
  app: described("the app", idOf("app")),
  subscribed_fields: Type.Array(Type.String(), { description: "the fields of the page whose webhooks the app gets, e.g. `messages`" }),
});

const entry = closedMap(
  {
    id: described("the page's id", worldId),
    name: Type.String({ default: "", description: "the page's name" }),
    people: Type.Array(person, { default: [], description: "the people who write to the page" }),
    roles: Type.Array(role, { default: [], description: "the people who work for the page" }),
    subscribed_apps: Type.Array(subscribed, {
      default: [],
      description: "the apps that get the page's webhooks; an app must also subscribe to the fields itself",
    }),
  },
  "a page: the presence of a business or group on the platform",
);
type Entry = Static<typeof entry>;

async function endRole(tx: Transaction, page: NodeId, user: NodeId, world: World): Promise<void> {
  await deleteRole(tx, page, user);
  await world.tokens.endPageTokens(tx, page, user, unixSeconds(world.clock));
}

async function addPerson(tx: Transaction, page: NodeId, psid: NodeId, name: string, index: number): Promise<void> {
  if (!(await insertPerson(tx, page, psid, name))) throw new TakenProblem(`people[${index}].psid`, `${psid} is already in use`);
}

/** Erases a person from the pages to which the person has written, and detaches the person's labels (D-172). */
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

async function replace(tx: Transaction, { id: page, name, people, roles, subscribed_apps }: Entry, world: World): Promise<void> {
  await pageTable.replace(tx, { id: page, name });
  const wanted = new Set<string>(people.map(({ psid }) => psid));
  const known = new Set((await listPeople(tx, page)).map(({ psid }) => psid));
  for (const psid of known) {
    if (wanted.has(psid)) continue;
    await world.ports.get("label_writes").detachAll(tx, page, psid);
    await deletePerson(tx, page, psid);
  }
  for (const [index, { psid, name: personName }] of people.entries()) {
    if (known.has(psid)) await renamePerson(tx, page, psid, personName);
    else await addPerson(tx, page, psid, personName, index);
  }
  for (const { user } of await listRoles(tx, page)) {
    if (!roles.some((kept) => kept.user === user)) await endRole(tx, page, nodeId(user), world);
  }
  for (const role of roles) await saveRole(tx, page, role);
  await world.ports.get("webhook_subscription_writes").saveOfPage(tx, page, subscribed_apps, world);
}

export const pageSection = section({
  key: "pages",
  entry,
  async insert(tx, { id: page, name, people, roles, subscribed_apps }, world) {
    if (!(await pageTable.insert(tx, { id: page, name }))) return false;
    for (const [index, { psid, name: personName }] of people.entries()) await addPerson(tx, page, psid, personName, index);
    for (const role of roles) await saveRole(tx, page, role);
    if (subscribed_apps.length > 0) await world.ports.get("webhook_subscription_writes").saveOfPage(tx, page, subscribed_apps, world);
    return true;
  },
  find: pageTable.find,
  list: pageTable.list,
  async entryOf(row: PageRow, reader, world) {
    const id = nodeId(row.id);
    const subscribed_apps = await world.ports.get("webhook_subscription").listOfPage(reader, id);
    return { ...row, people: await listPeople(reader, id), roles: await listRoles(reader, id), subscribed_apps };
  },
  replace,
  remove: deletePage,
});
