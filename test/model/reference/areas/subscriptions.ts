/** The webhook subscriptions of an app, for itself and on a page (D-60, D-61, D-130, D-131, D-164). */

import type { Failure } from "../errors.ts";
import { objectShape, type Shape } from "../fields.ts";
import { replyWithList } from "../lists.ts";
import type { Page, Subscription, Token } from "../nodes.ts";
import type { Operation, Turn } from "../operations.ts";
import { anyText, Hole, type Reply, success } from "../replies.ts";
import { asList, asText, parameter } from "../requests.ts";
import type { World } from "../world.ts";
import { handshakeOf, ROUTED, UNROUTED } from "./chatapp.ts";

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  catalog: ["product_feed"],
  chatapp_business_account: [...ROUTED, ...UNROUTED],
  page: ["custom_labels", "live_videos"],
  social: ["messages", "comments", "live_comments"],
};

/** A webhook field that comparable platforms send and Plaza does not; only the response profile `clients` accepts it. */
const UNSERVED = "feed";

function areFields(world: World, object: string, fields: readonly string[]): boolean {
  const are = fields.every((field) => FIELDS[object]?.includes(field) || (world.profile === "clients" && object === "page" && field === UNSERVED));
  if (fields.includes(UNSERVED) && object === "page") world.reach("unservedField");
  else if (!are) world.reach("foreignField");
  return are;
}

/** Expects these fields in any order, because no decision orders the fields of a subscription. */
const names = (fields: Iterable<string>): Hole =>
  new Hole("the fields", (actual) => {
    const expected = [...fields].sort().join();
    return Array.isArray(actual) && actual.toSorted().join() === expected ? undefined : `${JSON.stringify(actual)} are not ${expected}`;
  });

const ownShape: Shape = { ...objectShape("object", "callback_url", "active", "fields"), always: ["object"] };
const pageShape: Shape = { ...objectShape("id", "name", "link", "subscribed_fields"), always: ["id"] };

const ownOf = ({ world, node }: Turn): Map<string, Subscription> => world.subscriptions.get(node) as Map<string, Subscription>;
const pageOf = ({ world, node }: Turn): Page => world.pages.get(node) as Page;

function listOwn(turn: Turn): Reply | Failure[] {
  const objects = Object.keys(FIELDS);
  const rows = [...ownOf(turn)].map(([object, { callback, fields }]) => ({
    key: BigInt(objects.length - objects.indexOf(object)),
    value: { object, callback_url: callback, active: true, fields: names(fields) },
  }));
  return replyWithList(turn, { list: `listSubscriptions ${turn.node}`, rows, shape: ownShape });
}

/** D-130: subscribes. The new callback replaces the old one, and the new fields are added to the old ones. */
function subscribe(turn: Turn): Reply | Failure[] {
  const { world, request, fail } = turn;
  const [object, callback, token] = ["object", "callback_url", "verify_token"].map((name) => asText(parameter(request, name)));
  const fields = asList(request, "fields");
  const isWhole = object !== undefined && callback !== undefined && token !== undefined && token !== "" && fields?.[0] !== undefined;
  if (!isWhole || !Object.hasOwn(FIELDS, object) || !areFields(world, object, fields)) return fail("invalidParameter");
  if (!/^https?:\/\/./.test(callback)) return [fail("invalidParameter"), fail("handshakeFailed")];
  const handshake = handshakeOf(callback);
  if (handshake !== "agrees") return fail(handshake === "fails" ? "handshakeFailed" : "challengeMismatch");
  const before = ownOf(turn).get(object);
  world.reach(before === undefined ? "subscribed" : "subscribedAgain");
  ownOf(turn).set(object, { callback, fields: new Set([...(before?.fields ?? []), ...fields]) });
  return success({ success: true });
}

/** D-130: without fields, ends the whole subscription to the object; without an object, ends the subscriptions to all objects. */
function unsubscribe(turn: Turn): Reply {
  const { world, request, fail } = turn;
  const object = asText(parameter(request, "object"));
  const fields = asList(request, "fields");
  const isKnown = object === undefined ? parameter(request, "object") === undefined && fields === undefined : Object.hasOwn(FIELDS, object);
  if (!isKnown || fields === null || (fields !== undefined && !areFields(world, object ?? "", fields))) return fail("invalidParameter");
  for (const [name, subscription] of ownOf(turn)) {
    if (object !== undefined && name !== object) continue;
    for (const field of fields ?? [...subscription.fields]) subscription.fields.delete(field);
    if (subscription.fields.size === 0) ownOf(turn).delete(name);
  }
  world.reach("subscriptionEnded");
  return success({ success: true });
}

function listOfPage(turn: Turn): Reply | Failure[] {
  const rows = [...pageOf(turn).subscribed_apps].map(([id, fields]) => ({
    key: BigInt(id),
    value: { id, name: turn.world.apps.get(id)?.name, link: anyText, subscribed_fields: names(fields) },
  }));
  return replyWithList(turn, { list: `listAppsOfPage ${turn.node}`, rows, shape: pageShape });
}

/** D-131: subscribes the app to a page. The new fields of the subscription replace the old ones. */
function subscribeToPage(turn: Turn): Reply {
  const { world, request, tokens, fail } = turn;
  const fields = asList(request, "subscribed_fields");
  if (fields === null || fields === undefined || fields.length === 0 || !areFields(world, "page", fields)) return fail("invalidParameter");
  pageOf(turn).subscribed_apps.set(tokens[0].app, [...new Set(fields)]);
  world.reach("pageSubscribed");
  return success({ success: true });
}

function unsubscribeFromPage(turn: Turn): Reply {
  pageOf(turn).subscribed_apps.delete(turn.tokens[0].app);
  turn.world.reach("pageUnsubscribed");
  return success({ success: true });
}

const common = { surfaces: ["base"], form: "wrapped", scheme: "any", scopes: [], hasTask: () => true } as const;
const ofApp = {
  ...common,
  edge: "subscriptions",
  on: "app",
  kinds: ["app"],
  knows: (_: World, { app }: Token, node: string) => app === node,
} as const;
const ofPage = { ...common, edge: "subscribed_apps", on: "page", kinds: ["page"] } as const;

export const subscriptionOperations: readonly Operation[] = [
  { ...ofApp, name: "listSubscriptions", method: "GET", isOfNoPerson: true, reply: listOwn },
  { ...ofApp, name: "subscribeApp", method: "POST", reply: subscribe },
  { ...ofApp, name: "endSubscription", method: "DELETE", reply: unsubscribe },
  { ...ofPage, name: "listAppsOfPage", method: "GET", reply: listOfPage },
  { ...ofPage, name: "subscribeToPage", method: "POST", reply: subscribeToPage },
  { ...ofPage, name: "unsubscribeFromPage", method: "DELETE", reply: unsubscribeFromPage },
];
