/** Live videos: how pages create, change and read them (C1, C2, D-51, D-110 to D-114). */

import type { Failure } from "../errors.ts";
import { objectShape, type Shape, select } from "../fields.ts";
import { replyWithList } from "../lists.ts";
import type { LiveVideo, Token } from "../nodes.ts";
import { isSelection, type Operation, readSelection, type Turn } from "../operations.ts";
import { anyText, Hole, type Reply, success } from "../replies.ts";
import { asText, characters, type GraphRequest, parameter } from "../requests.ts";
import type { World } from "../world.ts";
import { COUNTRIES, readCrossposting, readPlace, readTargeting } from "./live-parameters.ts";
import { type Announcement, announce, isLive, isTakenDown, type LiveEvent, move, statusOf } from "./live-states.ts";
import { pageShape, seesPage, shownPage, tasksOn } from "./page-messaging.ts";
import { time } from "./tagged-media.ts";

const NAMES = [
  ...["id", "title", "description", "status", "embeddable", "embed_html", "place", "targeting", "planned_start_time", "creation_time"],
  ...["broadcast_start_time", "takedown_reason", "restorable_until", "end_reason", "permalink_url", "stream_url", "secure_stream_url", "stream_key"],
] as const;
const place: Shape = objectShape("id", "location");
const targeting: Shape = objectShape("geo_locations", "excluded_countries");
const sharers: Shape = { ...objectShape("id"), always: ["id"], isEdge: true };
const shape: Shape = {
  fields: { ...objectShape(...NAMES).fields, place, targeting, page: pageShape, crossposted_pages: sharers },
  defaults: ["id", "title", "description", "status", "embeddable", "creation_time", "takedown_reason", "restorable_until", "end_reason"],
  always: ["id"],
};
const ofMap: Shape = {
  fields: { ...objectShape("id", "title", "permalink_url", "broadcast_start_time").fields, place, page: pageShape },
  defaults: ["id", "title", "place", "broadcast_start_time"],
  always: ["id"],
};

const videoOf = (world: World, id: string): LiveVideo => world.live_videos.get(id) as LiveVideo;

/** The pages that show the video: its own page, and those that share it unless it was taken down. */
const pagesOf = (video: LiveVideo): readonly string[] => (isTakenDown(video) ? [video.page] : [video.page, ...video.crossposted]);

/** D-16: whether the token may read the video by one of the pages. A token of a type that the operation does not serve reads nothing of a video. */
const isOfOneOf = (world: World, token: Token, pages: readonly string[]): boolean =>
  token.type !== "system_user" &&
  pages.some((id) => {
    const page = world.pages.get(id);
    return page !== undefined && seesPage(page, token);
  });

export const seesVideo = (world: World, token: Token, id: string): boolean => isOfOneOf(world, token, pagesOf(videoOf(world, id)));

/** C1-5: whether the token may create a video on the pages. A page token acts for its page; a person's token needs the person's task on the page. */
const createsOn = (world: World, token: Token, pages: readonly string[]): boolean =>
  token.type === "page" ||
  pages.some((id) => {
    const page = world.pages.get(id);
    return page !== undefined && tasksOn(page, token)?.includes("CREATE_CONTENT") === true;
  });

const optional = (name: string, value: unknown): Record<string, unknown> => (value === undefined ? {} : { [name]: value });

function shown(world: World, video: LiveVideo, address: string): Record<string, unknown> {
  const { id, title, description, embeddable, page, state, takedown_reason, end_reason, deadline, crossposted } = video;
  const { planned_start_time: plan, creation_time, broadcast_start_time: start, countries, excluded_countries } = video;
  const borders = {
    ...(countries.length === 0 ? {} : { geo_locations: { countries } }),
    ...(excluded_countries.length === 0 ? {} : { excluded_countries }),
  };
  const permalink_url = `${address}/player/${id}`;
  const framed = new Hole("a frame", (actual) =>
    typeof actual === "string" && actual.includes(`"${permalink_url}"`) ? undefined : "it frames another",
  );
  return {
    ...{ id, status: statusOf(video), embeddable, creation_time: time(creation_time), permalink_url, page: shownPage(world, page) },
    ...{ ...optional("title", title), ...optional("description", description), ...optional("place", video.place) },
    ...{ ...optional("takedown_reason", takedown_reason), ...optional("end_reason", end_reason) },
    ...(embeddable ? { embed_html: framed } : {}),
    ...(Object.keys(borders).length === 0 ? {} : { targeting: borders }),
    ...(plan === undefined ? {} : { planned_start_time: time(plan) }),
    ...(start === undefined ? {} : { broadcast_start_time: time(start) }),
    ...(state === "taken_down" && deadline !== undefined ? { restorable_until: time(deadline) } : {}),
    ...(crossposted.length === 0 ? {} : { crossposted_pages: { data: anyOrder(crossposted) } }),
  };
}

/** Expects these pages in any order, because no decision orders the pages that share a video. */
const anyOrder = (ids: readonly string[]): Hole =>
  new Hole("expected the pages that share it", (actual) => {
    const shownIds = (Array.isArray(actual) ? actual : []).map((one: { id?: string }) => one.id ?? "").sort();
    return shownIds.join() === ids.toSorted().join() ? undefined : `${JSON.stringify(actual)} are not ${ids.join()}`;
  });

const rowOf = (turn: Turn, video: LiveVideo) => ({ key: BigInt(video.id), value: shown(turn.world, video, turn.address) });

function listVideos(turn: Turn): Reply | Failure[] {
  const { world, node } = turn;
  const all = [...world.live_videos.values()].filter((video) => pagesOf(video).includes(node));
  if (all.some(({ page }) => page !== node)) world.reach("liveShared");
  return replyWithList(turn, { list: `listLiveVideos ${node}`, rows: all.map((video) => rowOf(turn, video)), shape });
}

function readVideo(turn: Turn): Reply {
  const selection = readSelection(turn, shape);
  return isSelection(selection) ? success(select(shown(turn.world, videoOf(turn.world, turn.node), turn.address), shape, selection)) : selection;
}

const START_DELAY_SECONDS = 4.5;

function listMap(turn: Turn): Reply | Failure[] {
  const { world, request, tokens, fail } = turn;
  const country = asText(parameter(request, "country"));
  const isUnknown = country !== undefined && !COUNTRIES.includes(country);
  const isOpen = ({ countries, excluded_countries: closed }: LiveVideo): boolean =>
    country === undefined
      ? countries.length === 0 && closed.length === 0
      : (countries.length === 0 || countries.includes(country)) && !closed.includes(country);
  const isShown = (video: LiveVideo): boolean =>
    isLive(video) && video.place !== undefined && (video.broadcast_start_time ?? world.now) + START_DELAY_SECONDS <= world.now;
  const all = [...world.live_videos.values()].filter(isShown);
  if (all.length > 0) world.reach("liveMap");
  if (all.some((video) => !isOpen(video))) world.reach("liveMapCountry");
  const rows = all.filter(isOpen).map((video) => rowOf(turn, video));
  const reply = replyWithList(turn, { list: `listLiveMap ${tokens[0].app}`, rows, shape: ofMap });
  if (!isUnknown) return reply;
  world.reach("liveTargeting");
  return [fail("invalidParameter", { parameter: "country" }), ...(Array.isArray(reply) ? reply : [])];
}

/** Matches the names of features that the interface document excludes. */
const FOREIGN = /boost|promot|sponsor|^ads?_|_ads?$|_ads?_|bumper|caption|subtitle/i;

interface Plan {
  readonly event: LiveEvent | undefined;
  readonly time: number | undefined;
}

const PLANS: Readonly<Record<string, LiveEvent | undefined>> = {
  ...{ LIVE_NOW: "published", LIVE: "published", UNPUBLISHED: undefined, SCHEDULED_CANCELED: "canceled" },
  ...{ SCHEDULED_UNPUBLISHED: "planned_unpublished", SCHEDULED_LIVE: "planned_live" },
};

function readTime(given: unknown, now: number): number | undefined {
  const text = asText(given) ?? "";
  const seconds = /^\d+$/.test(text) ? Number(text) : Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2")) / 1000;
  const isDay = !/^\d{4}-02-3/.test(text);
  return isDay && seconds > now ? seconds : undefined;
}

/** The plan in the request; undefined if the server refuses the plan. */
function readPlan({ world, request }: Turn, state: LiveVideo["state"] | undefined): Plan | undefined {
  const [status, start] = [parameter(request, "status"), parameter(request, "planned_start_time")];
  const planned = start === undefined ? undefined : readTime(start, world.now);
  const isPlan = status === "SCHEDULED_UNPUBLISHED" || status === "SCHEDULED_LIVE";
  const isKnown =
    status === undefined || (Object.hasOwn(PLANS, String(status)) && status !== (state === undefined ? "SCHEDULED_CANCELED" : "UNPUBLISHED"));
  if ((start !== undefined && planned === undefined) || !isKnown || (status !== undefined && isPlan !== (start !== undefined))) {
    world.reach("livePlan");
    return undefined;
  }
  if (status !== undefined) return { event: PLANS[String(status)], time: planned };
  // D-111: a new start time without a status moves the plan and keeps its type.
  return { event: planned === undefined ? undefined : state === "scheduled_live" ? "planned_live" : "planned_unpublished", time: planned };
}

const flagOf = (value: unknown): boolean | undefined =>
  ["true", "1"].includes(String(value)) ? true : value === undefined || ["false", "0"].includes(String(value)) ? false : undefined;

function readTextOf({ world, request }: Turn, name: string, max: number): string | undefined | false {
  const given = parameter(request, name);
  if (given === undefined) return undefined;
  const text = asText(given);
  if (text !== undefined && characters(text) <= max) return text;
  world.reach("liveText");
  return false;
}

const namesIn = ({ query, body }: GraphRequest): string[] => [...query.map(([name]) => name), ...Object.keys(body?.fields ?? {})];

/** The video with the changes of the request; undefined if the server refuses one of them. */
function withParameters(turn: Turn, video: LiveVideo): LiveVideo | undefined {
  const { world, request } = turn;
  const [title, description] = [readTextOf(turn, "title", 255), readTextOf(turn, "description", 5_000)];
  const given = parameter(request, "embeddable");
  const embeddable = flagOf(given);
  const [at, borders, crossposted] = [readPlace(turn), readTargeting(turn), readCrossposting(turn, video)];
  const isForeign = namesIn(request).some((name) => FOREIGN.test(name));
  if (isForeign) world.reach("liveForeign");
  if (title === false || description === false || embeddable === undefined || at === false || borders === false || crossposted === false || isForeign)
    return undefined;
  return {
    ...{ ...video, ...optional("title", title), ...optional("description", description) },
    ...(given === undefined ? {} : { embeddable }),
    ...(at === undefined ? {} : { place: at.place }),
    ...{ ...borders, crossposted },
  };
}

/** Makes the state changes that a request asks for; undefined if the server refuses one of them. */
function moved(world: World, video: LiveVideo, events: readonly (LiveEvent | undefined)[]): Announcement[] | undefined {
  const heard: Announcement[] = [];
  for (const event of events) {
    if (event === undefined) continue;
    const said = move(video, event, world.now);
    if (said === undefined) {
      world.reach("liveWrongMove");
      return undefined;
    }
    heard.push(...said);
  }
  return heard;
}

/** D-115: the address of the stream, which exists with `--rtmp-url`. */
const streamOf = (key: string | undefined): Record<string, unknown> => ({ stream_url: anyText, stream_key: key ?? anyText });

function createVideo(turn: Turn): Reply | Failure {
  const { world, node, fail } = turn;
  const selection = readSelection(turn, shape);
  const plan = readPlan(turn, undefined);
  const fresh: LiveVideo = {
    ...{ id: "", page: node, state: "unpublished", embeddable: false, countries: [], excluded_countries: [], creation_time: world.now },
    ...{ hasFeed: false, sealingFails: false, sealingTries: 0, crossposted: [], comments: [], reactions: new Map() },
    ...(plan?.time === undefined ? {} : { planned_start_time: plan.time }),
  };
  const made = withParameters(turn, fresh);
  if (made === undefined || plan === undefined || !isSelection(selection)) return fail("invalidParameter");
  const video: LiveVideo = { ...made, id: turn.mint(), stream_key: turn.observed("stream_key") };
  world.live_videos.set(video.id, video);
  announce(world, moved(world, video, [plan.event]) ?? []);
  const streams = streamOf(video.stream_key);
  return success(
    selection === undefined ? { id: video.id, ...streams } : select({ ...shown(world, video, turn.address), ...streams }, shape, selection),
  );
}

function updateVideo(turn: Turn): Reply | Failure {
  const { world, node, request, fail } = turn;
  const stored = videoOf(world, node);
  const [ends, regenerates] = [flagOf(parameter(request, "end_live_video")), flagOf(parameter(request, "regenerate_stream_key"))];
  const selection = readSelection(turn, shape);
  const plan = readPlan(turn, stored.state);
  const video = withParameters(turn, stored);
  const isBoth = ends === true && (regenerates === true || parameter(request, "status") !== undefined);
  if (isTakenDown(stored)) world.reach("liveTakenDown");
  if (video === undefined || plan === undefined || ends === undefined || regenerates === undefined || isBoth) return fail("invalidParameter");
  if (isTakenDown(stored) || !isSelection(selection)) return fail("invalidParameter");
  if (plan.time !== undefined) video.planned_start_time = plan.time;
  const sends = video.hasFeed && (isLive(video) || plan.event === "published");
  const renewed = sends ? "key_replaced" : "key_regenerated";
  const heard = moved(world, video, [plan.event, ends ? "end_signalled" : undefined, regenerates ? renewed : undefined]);
  if (heard === undefined) return fail("invalidParameter");
  if (regenerates) video.stream_key = turn.observed("stream_key");
  world.live_videos.set(node, video);
  announce(world, heard);
  const streams = regenerates ? streamOf(video.stream_key) : {};
  const whole = { ...shown(world, video, turn.address), ...streams };
  return success(selection === undefined ? { id: node, success: true, ...streams } : select(whole, shape, selection));
}

function deleteVideo({ world, node, fail }: Turn): Reply {
  const heard = move(videoOf(world, node), "deleted", world.now);
  if (heard === undefined) {
    world.reach("liveTakenDown");
    return fail("invalidParameter");
  }
  announce(world, heard);
  world.live_videos.delete(node);
  return success({ success: true });
}

const live = {
  surfaces: ["base"],
  form: "wrapped",
  scheme: "any",
  kinds: ["page", "user"],
  scopes: ["pages_manage_posts", "pages_read_engagement"],
} as const;

const ON_PAGE = { ...live, hasTask: (world: World, token: Token, node: string) => createsOn(world, token, [node]) } as const;

/** Operations that only the page where the video began may use. */
export const OF_OWN_PAGE = {
  ...live,
  knows: (world: World, token: Token, node: string) => isOfOneOf(world, token, [videoOf(world, node).page]),
  hasTask: (world: World, token: Token, node: string) => createsOn(world, token, [videoOf(world, node).page]),
} as const;

export const liveOperations: readonly Operation[] = [
  { ...ON_PAGE, name: "listLiveVideos", method: "GET", edge: "live_videos", on: "page", reply: listVideos },
  { ...ON_PAGE, name: "createLiveVideo", method: "POST", edge: "live_videos", on: "page", reply: createVideo },
  { ...OF_OWN_PAGE, name: "updateLiveVideo", method: "POST", edge: "", on: "live_video", reply: updateVideo },
  { ...OF_OWN_PAGE, name: "deleteLiveVideo", method: "DELETE", edge: "", on: "live_video", reply: deleteVideo },
  { ...live, name: "listLiveMap", method: "GET", edge: "live_map", on: "nothing", isOfNoPerson: true, hasTask: () => true, reply: listMap },
  {
    ...{ ...live, name: "readLiveVideo", method: "GET", edge: "", on: "live_video" },
    hasTask: (world, token, node) => createsOn(world, token, pagesOf(videoOf(world, node))),
    reply: readVideo,
  },
];
