/** Product catalogs and feeds with their items (G1, G2, D-56, D-140 to D-149). */

import type { Failure } from "../errors.ts";
import { objectShape, type Shape, select } from "../fields.ts";
import { KINDS } from "../files.ts";
import { replyWithList } from "../lists.ts";
import type { Catalog, Feed, Token } from "../nodes.ts";
import { isSelection, type Operation, readSelection, type Turn } from "../operations.ts";
import { type Reply, success } from "../replies.ts";
import { asObject, asText, characters, parameter } from "../requests.ts";
import { plan, readSchedule } from "../schedules.ts";
import { emit, type World } from "../world.ts";
import { tasksOn } from "./page-messaging.ts";
import { createUpload, latestOf, listUploadErrors, listUploads, readUpload, shape as uploadShape } from "./uploads.ts";

const MANAGE = "240588526848665";
const ADVERTISE = "2015469438531460";

const catalogOf = (world: World, node: string): Catalog | undefined =>
  world.catalogs.get(world.product_feeds.get(world.uploads.get(node)?.feed ?? node)?.catalog ?? node);

const worksFor = (world: World, business: string, user: string | undefined): boolean =>
  world.businesses.get(business)?.people.some((person) => person.user === user) === true;

interface Ways {
  readonly tasks: readonly string[];
  readonly sharedFor: readonly string[];
}

/** D-13, D-146: whether a token may use a catalog: by a task on its page, by its business, or by an agency that it is shared with. */
const may =
  ({ tasks, sharedFor }: Ways) =>
  (world: World, token: Token, node: string): boolean => {
    const catalog = catalogOf(world, node);
    const page = world.pages.get(catalog?.page ?? "");
    if (catalog === undefined || page === undefined) return false;
    if (token.type === "page") return token.page === page.id;
    if (token.user === undefined) return false;
    if (tasksOn(page, token)?.some((task) => tasks.includes(task)) === true) return true;
    const agencies = catalog.agencies.filter(({ permitted_tasks }) => permitted_tasks.some((task) => sharedFor.includes(task)));
    if (agencies.some(({ business }) => worksFor(world, business, token.user))) world.reach("catalogAgency");
    return [catalog.business ?? "", ...agencies.map(({ business }) => business)].some((business) => worksFor(world, business, token.user));
  };

export const seesCatalog = may({ tasks: ["MANAGE", "ADVERTISE", "CREATE_CONTENT"], sharedFor: [MANAGE, ADVERTISE] });
const mayFill = may({ tasks: ["MANAGE", "CREATE_CONTENT"], sharedFor: [MANAGE] });
const mayDelete = may({ tasks: ["MANAGE"], sharedFor: [] });

/** The name in the request, without the spaces around it. */
function readName({ world, request }: Turn): string | undefined {
  const name = asText(parameter(request, "name"))?.trim();
  if (name !== undefined && characters(name) >= 1 && characters(name) <= 200) return name;
  world.reach("catalogName");
  return undefined;
}

type Agency = Catalog["agencies"][number];

/** The agency that the request names; false if it is invalid. D-56: any business can be an agency, and both of its fields are required. */
function readAgency({ world, request }: Turn): Agency | undefined | false {
  const given = parameter(request, "business_metadata");
  const metadata = given === undefined ? {} : asObject(given);
  if (metadata === undefined) return false;
  if (metadata.agency === undefined) return undefined;
  world.reach("agencyData");
  const { business_id, permitted_tasks: tasks } = asObject(metadata.agency) ?? {};
  const areTasks = Array.isArray(tasks) && tasks.length > 0 && tasks.every((task) => task === MANAGE || task === ADVERTISE);
  return areTasks && world.businesses.has(String(business_id)) ? { business: String(business_id), permitted_tasks: tasks as string[] } : false;
}

function createCatalog(turn: Turn): Reply {
  const { world, request, node, tokens, fail } = turn;
  const name = readName(turn);
  const agency = readAgency(turn);
  const [vertical, business] = [parameter(request, "vertical"), asText(parameter(request, "business_id"))];
  if (vertical !== undefined && vertical !== "commerce") world.reach("catalogVertical");
  const isOwn = business === undefined || worksFor(world, business, tokens[0].user);
  if (!isOwn) world.reach("catalogBusiness");
  if (name === undefined || agency === false || (vertical !== undefined && vertical !== "commerce") || !isOwn) return fail("invalidParameter");
  const id = turn.mint();
  // D-144: a catalog is shared only if the request has both ids.
  const agencies = business === undefined || agency === undefined ? [] : [agency];
  world.catalogs.set(id, { id, page: node, name, agencies, ...(business === undefined ? {} : { business }) });
  return success({ id });
}

const catalogShape: Shape = { ...objectShape("id", "name", "vertical"), defaults: ["id", "name"], always: ["id"] };
const scheduleShape = objectShape("interval", "interval_count", "url", "hour", "minute", "day_of_week", "day_of_month", "timezone");
const feedShape: Shape = {
  fields: {
    ...{ id: true, name: true, product_count: true, schedule: scheduleShape, update_schedule: scheduleShape },
    latest_upload: uploadShape,
  },
  ...{ defaults: ["id", "name"], always: ["id"] },
};
const itemShape: Shape = {
  ...objectShape("id", "retailer_id", "name", "image_url", "url", "brand", "price"),
  ...{ defaults: ["id", "retailer_id", "name", "image_url", "url"], always: ["id"] },
};

function readAs(turn: Turn, shape: Shape, value: unknown): Reply {
  const selection = readSelection(turn, shape);
  return isSelection(selection) ? success(select(value, shape, selection)) : selection;
}

function readCatalog(turn: Turn): Reply {
  const { id, name } = turn.world.catalogs.get(turn.node) as Catalog;
  return readAs(turn, catalogShape, { id, name, vertical: "commerce" });
}

const feedOf = ({ world, node }: Turn): Feed => world.product_feeds.get(node) as Feed;
const shownFeed = (world: World, feed: Feed): unknown => ({
  ...{ id: feed.id, name: feed.name, product_count: feed.items.size, latest_upload: latestOf(world, feed) },
  ...Object.fromEntries([...feed.fetches].map(([kind, { schedule }]) => [kind, schedule])),
});

function removeFeed({ product_feeds, uploads }: World, feed: string): void {
  product_feeds.delete(feed);
  for (const [id, upload] of uploads) if (upload.feed === feed) uploads.delete(id);
}

function deleteCatalog({ world, node }: Turn): Reply {
  world.catalogs.delete(node);
  for (const { id, catalog } of world.product_feeds.values()) if (catalog === node) removeFeed(world, id);
  world.reach("catalogDeleted");
  return success({ success: true });
}

function listFeeds(turn: Turn): Reply | Failure[] {
  const feeds = [...turn.world.product_feeds.values()].filter(({ catalog }) => catalog === turn.node);
  const rows = feeds.map((feed) => ({ key: BigInt(feed.id), value: shownFeed(turn.world, feed) }));
  return replyWithList(turn, { list: `listFeeds ${turn.node}`, rows, shape: feedShape });
}

function hasWrongSchedule({ world, request }: Turn): boolean {
  const isWrong = KINDS.some((kind) => readSchedule(request, kind) === false);
  if (isWrong) world.reach("scheduleWrong");
  return isWrong;
}

function takeSchedules({ world, request }: Turn, feed: Feed): void {
  for (const kind of KINDS) {
    const schedule = readSchedule(request, kind);
    if (schedule === null && feed.fetches.has(kind)) world.reach("scheduleEnded");
    if (schedule) world.reach("scheduled");
    if (schedule === null || typeof schedule === "object") plan(feed, kind, schedule, world.now);
  }
}

function createFeed(turn: Turn): Reply {
  const name = readName(turn);
  if (name === undefined || hasWrongSchedule(turn)) return turn.fail("invalidParameter");
  const id = turn.mint();
  const feed: Feed = { id, catalog: turn.node, name, items: new Map(), uploads: [], fetches: new Map() };
  turn.world.product_feeds.set(id, feed);
  takeSchedules(turn, feed);
  return success({ id });
}

function updateFeed(turn: Turn): Reply {
  const given = parameter(turn.request, "name");
  const name = given === undefined ? feedOf(turn).name : readName(turn);
  if (name === undefined || hasWrongSchedule(turn)) return turn.fail("invalidParameter");
  feedOf(turn).name = name;
  takeSchedules(turn, feedOf(turn));
  return success({ success: true });
}

function deleteFeed({ world, node }: Turn): Reply {
  removeFeed(world, node);
  return success({ success: true });
}

function listItems(turn: Turn): Reply | Failure[] {
  const { world, request, fail } = turn;
  const summary = parameter(request, "summary");
  const isSummed = summary === true || ["true", "1"].includes(String(summary));
  const { items } = feedOf(turn);
  if (isSummed) world.reach("itemSummary");
  const rows = [...items.values()].map((item) => ({ key: BigInt(item.id ?? ""), value: item }));
  const reply = replyWithList(turn, {
    ...{ list: `listArticlesAndPublications ${turn.node}`, rows, shape: itemShape },
    ...(isSummed ? { more: { summary: { total_count: items.size } } } : {}),
  });
  const isFlag = summary === undefined || isSummed || ["false", "0"].includes(String(summary));
  return isFlag ? reply : [fail("invalidParameter", { parameter: "summary" }), ...(Array.isArray(reply) ? reply : [])];
}

/** D-149: emits a webhook to the apps that are subscribed to the field, and to the apps that are subscribed to any field on the catalog's page. */
export function emitOfCatalog(world: World, feed: Feed, status: "Finished" | "Failed"): void {
  const catalog = world.catalogs.get(feed.catalog) as Catalog;
  const value = { catalog_id: catalog.id, product_feed_id: feed.id, status };
  for (const app of world.pages.get(catalog.page)?.subscribed_apps.keys() ?? []) {
    emit(world, { app, object: "catalog", entity: catalog.id, field: "product_feed", value }, () => {
      const own = world.subscriptions.get(app)?.get("catalog");
      const isWanted = world.pages.get(catalog.page)?.subscribed_apps.has(app) === true && own?.fields.has("product_feed") === true;
      if (isWanted) world.reach("feedWebhook");
      return isWanted ? own.callback : undefined;
    });
  }
}

const common = {
  surfaces: ["base"],
  form: "wrapped",
  scheme: "any",
  kinds: ["page", "user", "system_user"],
  scopes: ["catalog_management"],
  marketing: "required",
  hasTask: () => true,
} as const;
const onCatalog = { ...common, on: "product_catalog" } as const;
const onFeed = { ...common, on: "product_feed" } as const;

const hasManage = (world: World, token: Token, node: string): boolean => {
  const page = world.pages.get(node);
  return page !== undefined && tasksOn(page, token)?.includes("MANAGE") === true;
};

export const catalogOperations: readonly Operation[] = [
  {
    ...{ ...common, name: "createCatalog", method: "POST", edge: "owned_product_catalogs", on: "page", surfaces: ["ads"] },
    ...{ scheme: "header or, in development, query", kinds: ["user"], scopes: ["catalog_management", "pages_manage_metadata"] },
    ...{ marketing: "or current", hasTask: hasManage, reply: createCatalog },
  },
  { ...onCatalog, name: "readCatalog", method: "GET", edge: "", reply: readCatalog },
  { ...onCatalog, name: "deleteCatalog", method: "DELETE", edge: "", hasTask: mayDelete, reply: deleteCatalog },
  { ...onCatalog, name: "listFeeds", method: "GET", edge: "product_feeds", reply: listFeeds },
  { ...onCatalog, name: "createFeed", method: "POST", edge: "product_feeds", hasTask: mayFill, reply: createFeed },
  { ...onFeed, name: "readFeed", method: "GET", edge: "", reply: (turn) => readAs(turn, feedShape, shownFeed(turn.world, feedOf(turn))) },
  { ...onFeed, name: "updateFeed", method: "POST", edge: "", hasTask: mayFill, reply: updateFeed },
  { ...onFeed, name: "deleteFeed", method: "DELETE", edge: "", hasTask: mayFill, reply: deleteFeed },
  { ...onFeed, name: "createUpload", method: "POST", edge: "uploads", hasTask: mayFill, reply: createUpload },
  { ...onFeed, name: "listUploads", method: "GET", edge: "uploads", reply: listUploads },
  { ...common, on: "product_feed_upload", name: "readUpload", method: "GET", edge: "", reply: readUpload },
  { ...common, on: "product_feed_upload", name: "listUploadErrors", method: "GET", edge: "errors", reply: listUploadErrors },
  { ...onFeed, name: "listArticlesAndPublications", method: "GET", edge: "articles_and_publications", reply: listItems },
];
