/** Decides whether a caller may know that a node exists (D-14, D-165). */

import { seesCatalog } from "./areas/catalogs.ts";
import { seesVideo } from "./areas/live-videos.ts";
import { seesPage } from "./areas/page-messaging.ts";
import type { Token } from "./nodes.ts";
import { accountOfScoped, type NodeType, nodeTypeOf, pageOf, type World } from "./world.ts";

type Sees = (world: World, token: Token, id: string) => boolean;

const isPersonsToken = ({ type }: Token): boolean => type === "user" || type === "system_user";

function seesByPage(world: World, token: Token, id: string): boolean {
  const page = pageOf(world, id);
  return page !== undefined && seesPage(page, token);
}

/** Whether a token may see the social account: a token of the account, its person or its page, or of a person with a role on that page. */
function seesAccount(world: World, token: Token, id: string): boolean {
  const account = world.social_accounts.get(id) ?? accountOfScoped(world, id);
  if (token.type === "social_user") return token.social_account === account?.id;
  if (isPersonsToken(token) && account?.user !== undefined && token.user === account.user) return true;
  const page = world.pages.get(account?.page ?? "");
  return page !== undefined && seesPage(page, token);
}

/** Whether a token may see the business messaging account: the token belongs to a person, and its app is subscribed to the account. */
function seesChatapp(world: World, token: Token, id: string): boolean {
  const account = world.chatapp_accounts.get(world.phone_numbers.get(id)?.account ?? id);
  return isPersonsToken(token) && account?.subscribed_apps.has(token.app) === true;
}

/** D-58: whether a token may see the intent: its app is subscribed to either account, or owns the solution. */
function seesIntent(world: World, token: Token, id: string): boolean {
  const { waba = "", destination_waba = "", solution = "" } = world.migration_intents.get(id) ?? {};
  if (!isPersonsToken(token)) return false;
  return [waba, destination_waba].some((account) => seesChatapp(world, token, account)) || world.solutions.get(solution)?.owner_app === token.app;
}

const byType: Readonly<Partial<Record<NodeType, Sees>>> = {
  app: (_, token, id) => token.app === id && (token.type === "app" || isPersonsToken(token)),
  user: (_, token, id) => isPersonsToken(token) && token.user === id,
  business: (world, token, id) => isPersonsToken(token) && world.businesses.get(id)?.people.some(({ user }) => user === token.user) === true,
  page: seesByPage,
  page_person: seesByPage,
  label: seesByPage,
  persona: seesByPage,
  live_video: seesVideo,
  social_account: seesAccount,
  social_scoped_account: seesAccount,
  product_catalog: seesCatalog,
  product_feed: seesCatalog,
  product_feed_upload: seesCatalog,
  chatapp_account: seesChatapp,
  phone_number: seesChatapp,
  migration_intent: seesIntent,
  microblog_user: (_, token, id) => token.type === "microblog_user" && token.microblog_user === id,
  microblog_media: (world, token, id) => token.type === "microblog_user" && token.microblog_user === world.microblog_media.get(id)?.owner,
};

export function mayKnowOf(world: World, token: Token, id: string): boolean {
  const type = nodeTypeOf(world, id);
  return type !== undefined && byType[type]?.(world, token, id) === true;
}
