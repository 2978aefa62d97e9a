/** Makes the changes of the control API to a world, in the server and in the model. */

import type {
  AddMediaStep,
  ChangeStep,
  InAppStep,
  MoveActionStep,
  MoveIntentStep,
  MoveStep,
  RecordStep,
  RolesStep,
  SecretStep,
  TouchStep,
} from "../../histories/steps.ts";
import { emitComment, emitEcho, emitPostback } from "../../reference/areas/accounts.ts";
import { emitOfChatapp } from "../../reference/areas/chatapp.ts";
import { passDeadlines } from "../../reference/areas/live-states.ts";
import { INTENT_MOVES } from "../../reference/areas/migration-intents.ts";
import { ACTION_MOVES, passDueDates } from "../../reference/areas/required-actions.ts";
import { devicesOf, personsOf } from "../../reference/attribution.ts";
import { problemOf } from "../../reference/credentials.ts";
import type { Ad, App, Page } from "../../reference/nodes.ts";
import { planAgain } from "../../reference/schedules.ts";
import { loseRole } from "../../reference/world.ts";
import { idOf } from "../resolve.ts";
import { newName, type Scene, type Stage } from "../scene.ts";
import { changeVideo, videosWithoutFeeds } from "./change-video.ts";
import { erasePerson } from "./erase-person.ts";
import { fillFeed, playFetches } from "./fill-feed.ts";
import { lookAtEvents } from "./look-at-events.ts";
import { restoreSnapshot, takeSnapshot } from "./snapshots.ts";

/** Sends a request to the control API that changes a cached fact. Returns undefined if the request succeeded. */
async function orderFact(stage: Stage, scene: Scene, method: string, path: string, body?: unknown): Promise<string | undefined> {
  const what = await order(stage, scene, method, path, body);
  stage.servers.noteFact(scene.place);
  return what;
}

/** Sends a request to the control API. Returns undefined if the request succeeded. */
async function order({ servers }: Stage, scene: Scene, method: string, path: string, body?: unknown): Promise<string | undefined> {
  const { status, body: reply } = await servers.control(method, `worlds/${scene.place}/${path}`, body);
  return status < 300 ? undefined : `${method} ${path} of the control API: ${status} ${JSON.stringify(reply)}`;
}

export async function changeWorld(stage: Stage, scene: Scene, step: ChangeStep): Promise<string | undefined> {
  const { world } = scene;
  // The waiting deliveries must arrive before the change.
  const missing = await stage.ledger.settle(world);
  if (missing !== undefined) return missing;
  switch (step.kind) {
    case "advance":
      return advance(stage, scene, step.seconds, step.within_ms);
    case "revoke":
      return revoke(stage, scene, step.token);
    case "erase":
      return erasePerson(stage, scene, idOf(scene.ever, step.person));
    case "copy":
      return copyToken(stage, scene, step.token);
    case "secret":
      return changeSecret(stage, scene, step);
    case "roles":
      setRoles(scene, step);
      return orderFact(stage, scene, "PATCH", `nodes/pages/${step.page}`, { roles: step.roles });
    case "events":
      return lookAtEvents(stage, scene, step);
    case "touch":
      return touch(stage, scene, step);
    case "move":
      return move(stage, scene, step);
    case "snapshot":
      return step.what === "take" ? takeSnapshot(stage, scene) : restoreSnapshot(stage, scene);
    case "in app":
      return actInApp(stage, scene, step);
    case "move intent":
      return moveIntent(stage, scene, step);
    case "move action":
      return moveAction(stage, scene, step);
    case "record":
      return record(stage, scene, step);
    case "feed file":
      return fillFeed(stage, scene, step);
    case "live":
      return changeVideo(stage, scene, step);
    case "add media":
      return addMedia(stage, scene, step);
  }
}

async function advance(stage: Stage, scene: Scene, seconds: number, within_ms?: number): Promise<string | undefined> {
  const { world } = scene;
  world.now += seconds;
  passDueDates(world);
  passDeadlines(world);
  const moved = within_ms === undefined ? orderFact(stage, scene, "POST", "clock/advance", { seconds }) : moveInPieces(stage, scene, within_ms);
  const problem = (await moved) ?? (await playFetches(stage, scene));
  world.movedFrom = world.now;
  return problem;
}

/** D-266: repeats the same request, which continues the move, until the time is reached. */
async function moveInPieces({ servers }: Stage, { world, place }: Scene, within_ms: number): Promise<string | undefined> {
  for (let before = world.movedFrom; ; ) {
    const { status, body } = await servers.control("PUT", `worlds/${place}/clock`, { now: world.now, within_ms });
    servers.noteFact(place);
    const { now } = body as { now: number };
    if (status === 200) return now === world.now ? undefined : `the clock is at ${now}, not at ${world.now}`;
    if (status !== 202 || now < before || now > world.now) return `a move to ${world.now} is ${status} ${JSON.stringify(body)}`;
    world.reach("moveInPieces");
    before = now;
  }
}

/** The id of a token, found by the token's position in the world file: the list of tokens is newest first, and shows neither values nor copies. */
async function idOfToken({ servers }: Stage, { place, world }: Scene, value: string): Promise<string | undefined> {
  const { body } = await servers.control("GET", `worlds/${place}/tokens?limit=100`);
  const listed = (body as { data: { id: string }[] }).data.toReversed();
  const originals = [...world.tokens.values()].filter(({ copyOf }) => copyOf === undefined);
  return listed[originals.findIndex((token) => token.value === value)]?.id;
}

async function revoke(stage: Stage, scene: Scene, value: string): Promise<string | undefined> {
  const id = await idOfToken(stage, scene, value);
  for (const token of scene.world.tokens.values()) if (token.value === value || token.copyOf === value) token.revoked = true;
  return orderFact(stage, scene, "DELETE", `tokens/${id}`);
}

const COPY_SECONDS = 600;

/** D-270: copies the token, and deletes copies of the token that have ended. */
async function copyToken(stage: Stage, scene: Scene, value: string): Promise<string | undefined> {
  const { world, copies, place } = scene;
  const token = world.tokens.get(value);
  if (token === undefined || problemOf(world, token) !== undefined) return undefined;
  const { status, body } = await stage.servers.control("POST", `worlds/${place}/tokens/${await idOfToken(stage, scene, value)}/copy`);
  const { token: copy } = body as { token: string };
  if (status !== 201 || world.tokens.has(copy)) return `the copy of ${value} is ${status} ${JSON.stringify(body)}`;
  for (const one of world.tokens.values()) if (one.copyOf === value && one.expires_at <= world.now) world.tokens.delete(one.value);
  const ends = world.now + COPY_SECONDS;
  const expires_at = token.expires_at === 0 ? ends : Math.min(ends, token.expires_at);
  world.tokens.set(copy, { ...token, value: copy, copyOf: value, issued_at: world.now, expires_at });
  copies.set(value, copy);
  world.reach("tokenCopied");
  return undefined;
}

/** D-132: webhooks are signed with the new secret at once, and also with the old secret for a while. */
async function changeSecret(stage: Stage, scene: Scene, { app: id, secret }: SecretStep): Promise<string | undefined> {
  const app = scene.world.apps.get(id) as App;
  if (app.secret === secret) return undefined;
  Object.assign(app, { secret, retired_secret: app.secret });
  return orderFact(stage, scene, "PATCH", `nodes/apps/${id}`, { secret });
}

/** D-11: page tokens end with the role of their person, and do not become valid later. */
function setRoles({ world }: Scene, { page: id, roles }: RolesStep): void {
  const page = world.pages.get(id) as Page;
  for (const { user } of page.roles) if (!roles.some((role) => role.user === user)) loseRole(world, id, user);
  page.roles = roles.map(({ user, tasks }) => ({ user, tasks: [...tasks] }));
}

async function moveAction(stage: Stage, scene: Scene, { action: id, to }: MoveActionStep): Promise<string | undefined> {
  const { required_actions, now } = scene.world;
  const action = required_actions.get(id);
  if (action === undefined || !ACTION_MOVES[action.status].includes(to)) return undefined;
  Object.assign(action, { status: to, written: now });
  return order(stage, scene, "PATCH", `nodes/required_actions/${id}`, { status: to });
}

async function moveIntent(stage: Stage, scene: Scene, { intent: name, to }: MoveIntentStep): Promise<string | undefined> {
  const id = idOf(scene.ever, name);
  const intent = scene.world.migration_intents.get(id);
  if (intent === undefined || !INTENT_MOVES[intent.status].includes(to)) return undefined;
  intent.status = to;
  return order(stage, scene, "PATCH", `nodes/migration_intents/${id}`, { status: to });
}

/** Makes an action of a person in the platform's own apps, and expects the webhooks that it causes. */
async function actInApp(stage: Stage, scene: Scene, { what, fields }: InAppStep): Promise<string | undefined> {
  const { world } = scene;
  const { status, body } = await stage.servers.control("POST", `worlds/${scene.place}/in-app/${what}`, fields);
  if (status >= 300) return `in-app/${what} is refused: ${JSON.stringify(body)}`;
  const { id = "" } = body as { id?: string };
  const texts = fields as Readonly<Record<string, string>>;
  const account = world.social_accounts.get(texts.social_account ?? "");
  if (what === "chatapp") emitOfChatapp(world, texts.account ?? "", texts.phone_number, texts.field ?? "", fields.value);
  if (account === undefined) return undefined;
  if (what === "self-message") emitEcho(world, account, id, texts.text ?? "");
  if (what === "postback") emitPostback(world, account, texts);
  if (what === "comment") emitComment(world, account, texts, id);
  return undefined;
}

async function record(stage: Stage, scene: Scene, { entry }: RecordStep): Promise<string | undefined> {
  if ("activity" in entry) {
    scene.world.activity.push(entry.activity);
    return order(stage, scene, "POST", "nodes/activity", entry.activity);
  }
  scene.world.followers.push(entry.followers);
  return order(stage, scene, "POST", "nodes/followers", entry.followers);
}

async function addMedia(stage: Stage, scene: Scene, { kind: _, world: __, age, ...given }: AddMediaStep): Promise<string | undefined> {
  const { world } = scene;
  const entry = { ...given, timestamp: world.now - age };
  const { status, body } = await stage.servers.control("POST", `worlds/${scene.place}/nodes/media`, entry);
  const { id } = body as { id: string };
  if (status >= 300) return `a medium is refused: ${JSON.stringify(body)}`;
  const defaults = { media_type: "IMAGE", media_product_type: "FEED", like_count: 0, comments_count: 0, children: [] };
  world.media.set(id, { ...defaults, ...entry, id });
  return undefined;
}

async function touch(stage: Stage, scene: Scene, { what, fields }: TouchStep): Promise<string | undefined> {
  const { ads, touches } = scene.world;
  const { ad, advertiser_id, attribution, ud, time } = fields;
  touches.push({
    ...{ kind: what === "clicks" ? "click" : "impression", ad: ads.get(String(ad)) as Ad, time: Number(time) },
    ...{ devices: devicesOf(advertiser_id, attribution), persons: personsOf(ud) },
  });
  return order(stage, scene, "POST", `attribution/${what}`, fields);
}

/** Exports the world with its secrets (D-263), and continues in a new world made from the export, in the same server or in another. */
async function move(stage: Stage, scene: Scene, { into }: MoveStep): Promise<string | undefined> {
  const { world, place } = scene;
  const exported = await stage.servers.control("GET", `worlds/${place}/export?secrets=true`);
  const name = newName();
  const servers = into === "server" ? await stage.startOther() : stage.servers;
  const made = await servers.control("POST", "worlds", { name, file: exported.body });
  if (made.status !== 201) return `the export is refused: ${JSON.stringify(made.body)}`;
  if (into === "server") {
    if (scene.elsewhere !== undefined) await scene.elsewhere.stop();
    else if (place !== world.name) await stage.servers.control("DELETE", `worlds/${place}`);
    scene.elsewhere = servers;
    world.reach("importedElsewhere");
  } else if (place !== world.name) await servers.control("DELETE", `worlds/${place}`);
  // The exported world stays unchanged until another history resets it.
  scene.place = name;
  // The snapshot belongs to the exported world, not to the new one.
  delete scene.kept;
  servers.noteFact(name);
  for (const { value, copyOf } of world.tokens.values()) if (copyOf !== undefined) world.tokens.delete(value);
  scene.copies.clear();
  // D-261: a cursor of one world is not valid in another. The statuses in a world file count as written when the file is loaded.
  world.cursors.clear();
  for (const action of world.required_actions.values()) action.written = world.now;
  videosWithoutFeeds(world);
  // A world file has no app events, so everything that the world had only counted is gone as well.
  world.app_events.clear();
  world.touches.length = 0;
  world.uploads.clear();
  for (const { uploads } of world.product_feeds.values()) uploads.length = 0;
  planAgain(world);
  // D-132: a world file does not contain the time in which the old secret also signs.
  for (const app of world.apps.values()) app.retired_secret = undefined;
  return undefined;
}
