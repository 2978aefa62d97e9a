/** Business messaging accounts and their numbers, and the routes of the webhooks of both (H1 to H6, D-57, D-59, the routing rule). */

import type { Failure } from "../errors.ts";
import { objectShape, type Shape, select } from "../fields.ts";
import { replyWithList } from "../lists.ts";
import type { ChatappAccount, PhoneNumber, Token } from "../nodes.ts";
import { isSelection, type Operation, readSelection, type Turn } from "../operations.ts";
import { anyText, type Reply, success } from "../replies.ts";
import { asObject, asText, CREDENTIAL_NAMES, type GraphRequest, parameter } from "../requests.ts";
import { emit, type World } from "../world.ts";

const accountOf = (world: World, node: string): ChatappAccount =>
  world.chatapp_accounts.get(world.phone_numbers.get(node)?.account ?? node) as ChatappAccount;

const numberOf = (world: World, node: string): PhoneNumber => world.phone_numbers.get(node) as PhoneNumber;

export function worksForAccount(world: World, { user }: Token, node: string): boolean {
  const { people = [] } = world.businesses.get(accountOf(world, node).business ?? "") ?? {};
  return people.some((person) => person.user === user);
}

/** D-305: whether the token's person works for the account's business, or is an administrator or developer of the app. */
export function mayChangeAccount(world: World, token: Token, node: string): boolean {
  const roles = world.apps.get(token.app)?.roles ?? [];
  return (
    worksForAccount(world, token, node) || roles.some(({ user, role }) => user === token.user && (role === "administrator" || role === "developer"))
  );
}

/**
 * The behaviour of a callback in a handshake. The path of the callback's URL says how the callback behaves, so that histories can choose its
 * behaviour.
 */
export function handshakeOf(address: string): "agrees" | "fails" | "mismatches" {
  if (address.endsWith("/fails")) return "fails";
  return address.endsWith("/mismatches") ? "mismatches" : "agrees";
}

/** Sets an alternate callback after the handshake with this callback. */
function setOverride({ world, fail }: Turn, address: unknown, verifyToken: unknown, store: (address: string) => void): Reply | Failure[] {
  const [uri, token] = [asText(address), asText(verifyToken)];
  const isRight = uri !== undefined && uri.length <= 200 && /^https?:\/\/./.test(uri) && URL.canParse(uri);
  if (!isRight || token === undefined || token === "") {
    world.reach("overrideParameters");
    // For an invalid address, the server may refuse the parameter, or the handshake may fail.
    return uri !== undefined && uri.length <= 200 ? [fail("invalidParameter"), fail("handshakeFailed")] : [fail("invalidParameter")];
  }
  const handshake = handshakeOf(uri);
  if (handshake === "fails") return fail("handshakeFailed");
  if (handshake === "mismatches") return fail("challengeMismatch");
  store(uri);
  world.reach("overrideSet");
  return success({ success: true });
}

/** D-315. */
const GENERAL: ReadonlySet<string> = new Set([...CREDENTIAL_NAMES, "appsecret_proof", "method", "format", "sdk", "pretty", "locale"]);

const namesOf = ({ query, body }: GraphRequest): string[] =>
  [...query.map(([name]) => name), ...Object.keys(body?.fields ?? {})].filter((name) => !GENERAL.has(name));

/** The operation H1, which without parameters is H3. */
function setAccountOverride(turn: Turn): Reply | Failure[] {
  const { world, request, node, tokens, fail } = turn;
  const { subscribed_apps } = accountOf(world, node);
  const { app } = tokens[0];
  const [address, token] = [parameter(request, "override_callback_uri"), parameter(request, "verify_token")];
  if (!subscribed_apps.has(app)) {
    world.reach("selfSubscription");
    if (namesOf(request).length > 0) return [fail("unsupportedRequest"), fail("invalidParameter")];
  }
  if (address !== undefined && token !== undefined) return setOverride(turn, address, token, (uri) => subscribed_apps.set(app, uri));
  if (namesOf(request).length > 0) {
    world.reach("overrideSlip");
    return [fail("invalidParameter")];
  }
  world.reach("overrideRemoved");
  subscribed_apps.set(app, undefined);
  return success({ success: true });
}

/** The operation H4, which becomes H6 if the address is empty. */
function setNumberOverride(turn: Turn): Reply | Failure[] {
  const { world, request, node, tokens, fail } = turn;
  const configuration = asObject(parameter(request, "webhook_configuration"));
  if (configuration === undefined) return fail("invalidParameter");
  const { override_callback_uri: address, verify_token: token } = configuration;
  const { overrides } = numberOf(world, node);
  const { app } = tokens[0];
  if (address !== "") return setOverride(turn, address, token, (uri) => overrides.set(app, uri));
  overrides.delete(app);
  world.reach("overrideRemoved");
  return success({ success: true });
}

const accountShape: Shape = { ...objectShape("id", "name"), always: ["id"] };
const configurationShape = objectShape("phone_number", "chatapp_business_account", "application");
const numberShape: Shape = {
  fields: { ...objectShape("id", "display_phone_number", "verified_name").fields, webhook_configuration: configurationShape },
  defaults: ["id", "display_phone_number", "verified_name"],
  always: ["id"],
};
const entryShape: Shape = {
  fields: { chatapp_business_api_data: { ...objectShape("id", "link", "name"), always: ["id"] }, override_callback_uri: true },
  defaults: ["chatapp_business_api_data", "override_callback_uri"],
  always: ["chatapp_business_api_data"],
};

/** D-57: the phone number, with only those of its addresses that belong to the caller. */
function shownNumber(
  world: World,
  { id, account, display_phone_number, verified_name, overrides }: PhoneNumber,
  app: string,
): Record<string, unknown> {
  const webhook_configuration = {
    phone_number: overrides.get(app),
    chatapp_business_account: world.chatapp_accounts.get(account)?.subscribed_apps.get(app),
    application: world.subscriptions.get(app)?.get("chatapp_business_account")?.callback,
  };
  return { id, display_phone_number, verified_name, webhook_configuration };
}

function readAs(shape: Shape, value: (turn: Turn) => unknown): Operation["reply"] {
  return (turn) => {
    const selection = readSelection(turn, shape);
    return isSelection(selection) ? success(select(value(turn), shape, selection)) : selection;
  };
}

function listNumbers(turn: Turn): Reply | Failure[] {
  const { world, node, tokens } = turn;
  const rows = [...world.phone_numbers.values()]
    .filter(({ account }) => account === node)
    .map((number) => ({ key: BigInt(number.id), value: shownNumber(world, number, tokens[0].app) }));
  // D-163, D-38: the accounts in this list are shown without their own configuration.
  const { webhook_configuration: _, ...fields } = numberShape.fields;
  return replyWithList(turn, { list: `listPhoneNumbers ${node}`, rows, shape: { ...numberShape, fields } });
}

function listApps(turn: Turn): Reply | Failure[] {
  const { world, node } = turn;
  const rows = [...accountOf(world, node).subscribed_apps].map(([id, override_callback_uri]) => ({
    key: BigInt(id),
    value: { chatapp_business_api_data: { id, name: world.apps.get(id)?.name, link: anyText }, override_callback_uri },
  }));
  return replyWithList(turn, { list: `listSubscribedApps ${node}`, rows, shape: entryShape });
}

/** Ends the app's subscription to the account. The alternate addresses that the app has set for the account are deleted too. */
function unsubscribeApp({ world, node, tokens: [{ app }] }: Turn): Reply {
  accountOf(world, node).subscribed_apps.delete(app);
  for (const { account, overrides } of world.phone_numbers.values()) if (account === node) overrides.delete(app);
  world.reach("accountUnsubscribed");
  return success({ success: true });
}

/** The fields whose webhooks go to alternate callbacks. */
export const ROUTED = [
  ...["messages", "message_echoes", "calls", "consumer_profile", "messaging_handovers", "group_lifecycle_update", "group_participants_update"],
  ...["group_settings_update", "group_status_update", "smb_message_echoes", "smb_app_state_sync", "history", "account_settings_update"],
] as const;

/** The fields whose webhooks always go to the app's own callback. */
export const UNROUTED = [
  ...["message_template_status_update", "message_template_quality_update", "message_template_components_update", "template_category_update"],
  ...["account_update", "account_review_update", "account_alerts"],
] as const;

export function emitOfChatapp(world: World, account: string, number: string | undefined, field: string, value: unknown): void {
  const { subscribed_apps } = accountOf(world, account);
  for (const app of subscribed_apps.keys()) {
    emit(world, { app, object: "chatapp_business_account", entity: account, field, value }, () => {
      const own = world.subscriptions.get(app)?.get("chatapp_business_account");
      if (own?.fields.has(field) !== true || !subscribed_apps.has(app)) return undefined;
      const isRouted = (ROUTED as readonly string[]).includes(field);
      const ofNumber = number === undefined ? undefined : numberOf(world, number).overrides.get(app);
      const override = isRouted ? (ofNumber ?? subscribed_apps.get(app)) : undefined;
      if (override !== undefined) world.reach(override === ofNumber ? "routedByNumber" : "routedByAccount");
      else world.reach(isRouted ? "routedToApp" : "unrouted");
      return override ?? own.callback;
    });
  }
}

const common = {
  surfaces: ["base"],
  form: "wrapped",
  scheme: "header",
  kinds: ["user", "system_user"],
  scopes: ["chatapp_business_management"],
  hasTask: () => true,
} as const;

export const chatappOperations: readonly Operation[] = [
  {
    ...{ ...common, name: "readChatappAccount", method: "GET", edge: "", on: "chatapp_account" },
    reply: readAs(accountShape, ({ world, node }) => {
      const { id, name } = accountOf(world, node);
      return { id, name };
    }),
  },
  {
    ...{ ...common, name: "readPhoneNumber", method: "GET", edge: "", on: "phone_number" },
    reply: readAs(numberShape, ({ world, node, tokens }) => shownNumber(world, numberOf(world, node), tokens[0].app)),
  },
  { ...common, name: "listPhoneNumbers", method: "GET", edge: "phone_numbers", on: "chatapp_account", reply: listNumbers },
  { ...common, name: "listSubscribedApps", method: "GET", edge: "subscribed_apps", on: "chatapp_account", reply: listApps },
  {
    ...common,
    name: "unsubscribeApp",
    method: "DELETE",
    edge: "subscribed_apps",
    on: "chatapp_account",
    hasTask: mayChangeAccount,
    reply: unsubscribeApp,
  },
  {
    ...common,
    name: "setAccountOverride",
    method: "POST",
    edge: "subscribed_apps",
    on: "chatapp_account",
    hasTask: mayChangeAccount,
    reply: setAccountOverride,
  },
  { ...common, name: "setNumberOverride", method: "POST", edge: "", on: "phone_number", hasTask: mayChangeAccount, reply: setNumberOverride },
];
