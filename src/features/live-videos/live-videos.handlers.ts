import type { Static } from "typebox";
import type { ListRequest, OperationRequest } from "#graph/contract/operation";
import type { GraphRequest } from "#graph/pipeline/request";
import { notFoundNode } from "#graph/pipeline/route";
import { insertMinted } from "#graph/worlds/nodes.store";
import { unixSeconds } from "#kernel/clock";
import { type GraphError, invalidParameter, malformedRequest } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import { certain, type Reader, type Transaction } from "#storage/database";
import { isLive, isTakenDown, type LiveEvent, type Status, statusOf } from "./lifecycle/states.ts";
import { hashOfKey, holdVideo, mintKey, moveVideo, newVideo, onMap } from "./lifecycle/transitions.ts";
import { type createLiveVideo, type listLiveMap, NO_OTHER_PAGE, type updateLiveVideo } from "./live-videos.contract.ts";
import { CROSSPOSTED_PAGES_MAX, START_DELAY_MS } from "./live-videos.limits.ts";
import { insertVideo, type LiveVideoRow, listCrosspostedPages, listVideosOnMap, saveCrosspostedPages, updateVideo } from "./live-videos.store.ts";
import { showOnce, streamAddressOf } from "./viewing/addresses.ts";
import { placeOf } from "./viewing/place.ts";
import { targetingColumnsOf } from "./viewing/watching.ts";

type Create = OperationRequest<Static<typeof createLiveVideo.params>>;
type Update = OperationRequest<Static<typeof updateLiveVideo.params>>;

/** LIM-9: a video appears on the live map some seconds after its broadcast has started. */
export function handleListLiveMap({ params, page, world }: ListRequest<Static<typeof listLiveMap.params>>, reader: Reader) {
  return listVideosOnMap(reader, params.country, world.clock.nowMs() - START_DELAY_MS, page);
}

/**
 * Waits until encoders can connect, because the ingest process starts a moment after the server. A response with a stream key is delayed until
 * encoders can connect, so that the caller can send a stream at once.
 */
export const untilEncodersCanConnect = async ({ world }: Create | Update): Promise<void> => world.streaming?.listening;

export async function handleCreateLiveVideo(request: Create, tx: Transaction) {
  const { node, params, world, graphRequest } = request;
  refuseForeignParameters(graphRequest);
  const plan = readPlan(request);
  const crossposted = await crosspostedAfter(request, tx, node.id, []);
  const key = mintKey(world);
  const placed = await withPlace(request, tx, withFields(newVideo(node.id, node.id, unixSeconds(world.clock)), params));
  const createdAs = (id: NodeId): LiveVideoRow => ({ ...placed, id, stream_key_hash: hashOfKey(key), planned_start_time: plan.time ?? null });
  const id = await insertMinted(world.ids, (minted) => insertVideo(tx, createdAs(minted), crossposted));
  if (plan.event !== undefined) await certain(moveVideo(tx, world, createdAs(id), plan.event), "plan or publish a new video");
  return { id, ...showOnce(graphRequest, streamAddressOf(world, graphRequest.baseUrl, key)) };
}

export async function handleUpdateLiveVideo(request: Update, tx: Transaction) {
  const { node, params, world, graphRequest } = request;
  refuseForeignParameters(graphRequest);
  const { end_live_video: ends = false, regenerate_stream_key: regenerates = false } = params;
  const plan = readPlan(request);
  let row = await holdShown(request, tx);
  if (params.crossposting_actions !== undefined) {
    await saveCrosspostedPages(tx, row, await crosspostedAfter(request, tx, node.owner, await listCrosspostedPages(tx, row.page, row.id)));
  }
  row = withFields(await withPlace(request, tx, row), params);
  row = onMap({ ...row, planned_start_time: plan.time ?? row.planned_start_time });
  await updateVideo(tx, row);
  const event = plan.event === "planned_unpublished" && params.status === undefined ? movedPlanOf(row) : plan.event;
  if (event !== undefined) row = await moved(request, tx, row, event, params.status === undefined ? "planned_start_time" : "status");
  if (ends) row = await moved(request, tx, row, "end_signalled", "end_live_video");
  if (!regenerates) return { id: node.id, success: true };
  const key = mintKey(world);
  const regenerated = isLive(row.state) && row.has_feed === 1 ? "key_replaced" : "key_regenerated";
  row = await moved(request, tx, { ...row, stream_key_hash: hashOfKey(key) }, regenerated, "regenerate_stream_key");
  return { id: node.id, success: true, ...showOnce(graphRequest, streamAddressOf(world, graphRequest.baseUrl, key)) };
}

export async function handleDeleteLiveVideo(request: OperationRequest, tx: Transaction) {
  const row = await holdShown(request, tx);
  if ((await moveVideo(tx, request.world, row, "deleted")) === undefined) throw takenDown();
  return { success: true };
}

/**
 * Locks and returns the video of a request. Throws if the video was taken down (D-110). If the video was deleted a moment ago, throws the error of a
 * missing node.
 */
export async function holdShown(request: OperationRequest, tx: Transaction): Promise<LiveVideoRow> {
  const row = await holdVideo(tx, request.node.id);
  if (row === undefined) throw notFoundNode(request);
  if (isTakenDown(row.state)) throw takenDown();
  return row;
}

async function moved({ world }: Update, tx: Transaction, row: LiveVideoRow, event: LiveEvent, parameter: string): Promise<LiveVideoRow> {
  const after = await moveVideo(tx, world, row, event);
  if (after === undefined) throw wrongStatus(parameter, statusOf[row.state]);
  return after;
}

const eventOf = {
  LIVE_NOW: "published",
  LIVE: "published",
  SCHEDULED_UNPUBLISHED: "planned_unpublished",
  SCHEDULED_LIVE: "planned_live",
  SCHEDULED_CANCELED: "canceled",
  UNPUBLISHED: undefined,
} as const satisfies Record<string, LiveEvent | undefined>;

interface Plan {
  readonly event: LiveEvent | undefined;
  /** The planned start in Unix seconds. */
  readonly time: number | undefined;
}

/**
 * Reads `status` and `planned_start_time` (D-111). If the request has only `planned_start_time`, the video is planned as a broadcast that somebody
 * publishes by hand.
 */
function readPlan({ params, world }: Create | Update): Plan {
  const time = params.planned_start_time;
  if (time !== undefined && time <= unixSeconds(world.clock)) throw invalidParameter("planned_start_time", "must be in the future");
  const { status } = params as { status?: keyof typeof eventOf };
  if (status === undefined) return { event: time === undefined ? undefined : "planned_unpublished", time };
  return { event: eventOf[status], time };
}

/**
 * Returns the event for a request that changes only the planned time. A video that is planned to go live by itself still goes live by itself (D-111).
 */
const movedPlanOf = ({ state }: LiveVideoRow): LiveEvent => (state === "scheduled_live" ? "planned_live" : "planned_unpublished");

/** Returns the row of a video with the fields that the request contains. The fields that the request does not contain stay unchanged. */
function withFields(row: LiveVideoRow, params: Create["params"]): LiveVideoRow {
  const { title = row.title, description = row.description, embeddable = row.embeddable === 1, targeting } = params;
  return { ...row, title, description, embeddable: embeddable ? 1 : 0, ...(targeting && targetingColumnsOf(targeting)) };
}

/** Returns the row of a video with the place that the request contains. If the place has an id, a place or page with this id must exist (D-113). */
async function withPlace({ params, world }: Create | Update, tx: Transaction, row: LiveVideoRow): Promise<LiveVideoRow> {
  if (params.place === undefined) return row;
  if (params.place === null || params.place === "") return { ...row, place: null };
  const place = placeOf(params.place);
  const { id } = place;
  const exists =
    id === undefined || (await world.ports.get("place").exists(tx, id)) || (await world.ports.get("page").findName(tx, id)) !== undefined;
  if (!exists) throw unknownPlace();
  return { ...row, place: JSON.stringify(place) };
}

/** LIVE-25: returns the pages that share the video after the actions of the request. */
async function crosspostedAfter(request: Create | Update, tx: Transaction, original: NodeId, before: readonly NodeId[]): Promise<readonly NodeId[]> {
  const pages = new Set<NodeId>(before);
  for (const [index, { page_id, action = "enable_crossposting" }] of (request.params.crossposting_actions ?? []).entries()) {
    const name = `crossposting_actions[${index}].page_id`;
    if (page_id === original) throw wrongPage(name);
    if (action === "disable_crossposting") pages.delete(page_id);
    else if (pages.has(page_id) || (await mayPublishOn(request, tx, page_id))) pages.add(page_id);
    else throw wrongPage(name);
  }
  if (pages.size > CROSSPOSTED_PAGES_MAX)
    throw invalidParameter("crossposting_actions", `must not share the video with more than ${CROSSPOSTED_PAGES_MAX} pages`);
  return [...pages];
}

/** Returns whether the token's user has the task CREATE_CONTENT on the page. A page token that belongs to no user has no tasks on other pages. */
async function mayPublishOn({ caller, world }: Create | Update, tx: Transaction, page: NodeId): Promise<boolean> {
  const { user } = caller.token;
  if (user === undefined) return false;
  return (await world.ports.get("page_role").findRole(tx, page, user))?.tasks.includes("CREATE_CONTENT") === true;
}

/** LIVE-19, LIVE-20, D-51: the error for a parameter about boosting or ads. */
const advertisingRefused = (parameter: string): GraphError =>
  invalidParameter(parameter, "is refused: live videos cannot be boosted, and cannot contain ads of third parties");

/** LIVE-21: the error for a parameter about captions. */
const captionsRefused = (parameter: string): GraphError =>
  invalidParameter(parameter, "is refused: Plaza has no endpoint for captions; send captions in the stream (CEA-608)");

const unknownPlace = (): GraphError => invalidParameter("place", "must be the id of a place or a page");

/** D-51: the error for a change that is not in the table of states. */
const wrongStatus = (parameter: string, status: Status): GraphError =>
  invalidParameter(parameter, `is refused while the live video's status is ${status}`, { status });

/**
 * The error for a page that cannot share the video. The error is the same for a page that does not exist and for a page on which the caller may not
 * publish.
 */
const wrongPage = (parameter: string): GraphError => invalidParameter(parameter, NO_OTHER_PAGE);

/** D-110: the error for changing a video that was taken down. The video's own page can still read the video, but cannot change it. */
const takenDown = (): GraphError => malformedRequest("The live video was taken down");

export const notPublished = (): GraphError => malformedRequest("The live video has not been published");

/**
 * Words in the names of parameters about boosting and ads. Before these words are searched for, a name is changed to lower case without separators,
 * so that `isBoosted`, `is_boosted` and `is-boosted` are equal.
 */
const ADVERTISING = /boost|promot|sponsor|advert|monetiz|bumper|(?:pre|mid|post)roll|commercial|adbreak|thirdpartyad/;
const CAPTIONS = /caption|subtitle/;
/** Words about ads that also occur inside unrelated words, so the search finds them only as whole words. */
const AD_WORDS = new Set(["ad", "ads"]);

/**
 * Throws if the query, the body or the files have a parameter about boosting, ads of third parties or captions. A parameter about these topics is
 * refused with any value, so that nobody believes that the parameter has an effect (D-113). Plaza searches the names of parameters for words, because
 * clients spell the names in many ways.
 */
function refuseForeignParameters({ query, body, files }: Pick<GraphRequest, "query" | "body" | "files">): void {
  for (const name of [...Object.keys(query), ...Object.keys(body), ...files.keys()]) {
    const words = name
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .split(/[^a-z0-9]+/);
    const joined = words.join("");
    if (ADVERTISING.test(joined) || words.some((word) => AD_WORDS.has(word))) throw advertisingRefused(name);
    if (CAPTIONS.test(joined)) throw captionsRefused(name);
  }
}
