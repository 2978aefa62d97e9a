import { type TSchema, Type } from "typebox";
import { pageField, pageSet } from "#features/pages/api";
import { type Access, type Field, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import { having, PROBLEM } from "#graph/schema/schema-node";
import { closedMap, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { utcText } from "#kernel/clock";
import type { NodeId } from "#kernel/ids";
import { endReasons, noticeEndOf, statuses, statusOf, takedownReasons } from "./lifecycle/states.ts";
import { CROSSPOSTED_PAGES_MAX, DESCRIPTION_CHARACTERS_MAX, TITLE_CHARACTERS_MAX } from "./live-videos.limits.ts";
import { liveMap, liveVideo, liveVideoReading } from "./live-videos.policies.ts";
import type { LiveVideoRow } from "./live-videos.store.ts";
import { embedHtml, playerUrl, shownTo } from "./viewing/addresses.ts";
import { sentPlace } from "./viewing/place.ts";
import { targetingOf } from "./viewing/watching.ts";

const access = {
  surfaces: ["base"],
  versions: "platform",
  scheme: "anywhere",
  policy: liveVideo,
  errorForm: "wrapped",
} as const satisfies Partial<Access>;

const target = Type.Object({
  geo_locations: Type.Optional(Type.Object({ countries: Type.Array(Type.String()) })),
  excluded_countries: Type.Optional(Type.Array(Type.String())),
});

const point = Type.Object({ latitude: Type.Number(), longitude: Type.Number() });
const placeSchema = Type.Object({ id: Type.Optional(Type.String()), location: Type.Optional(point) });

/** LIVE-25: the field that lists the other pages that show a video. */
function crosspostedPagesOf(policy: Field["policy"]): Field<LiveVideoRow> {
  const set = pageSet(policy, ["id"]);
  return {
    schema: Type.Object({ data: Type.Array(Type.Object({ id: Type.String() })) }),
    policy,
    nested: {
      type: "page",
      set: () => set,
      isList: true,
      async load({ world }, reader, rows) {
        const pages = await world.ports.get("live_video").crosspostedPages(reader, rows);
        return pages.map((ids) => (ids.length === 0 ? undefined : ids.map((id) => ({ id }))));
      },
    },
  };
}

/** LIVE-2 to LIVE-6: the fields of a live video. D-113 defines the fields that the interface's document does not define. */
function videoFields(policy: Field["policy"]) {
  const plain = (schema: TSchema): Field<LiveVideoRow> => ({ schema, policy });
  const text = plain(Type.String());
  const time = (secondsOf: (row: LiveVideoRow) => number | null): Field<LiveVideoRow> => ({
    ...text,
    of: (row) => {
      const seconds = secondsOf(row);
      return seconds === null ? undefined : utcText(seconds);
    },
  });
  const stream = (name: "stream_url" | "secure_stream_url" | "stream_key"): Field<LiveVideoRow> => ({
    ...text,
    of: (_row, { graphRequest }) => shownTo(graphRequest)?.[name],
  });
  return {
    id: text,
    title: text,
    description: text,
    status: { ...plain(Type.Union(statuses.map((status) => Type.Literal(status)))), of: ({ state }) => statusOf[state] },
    embeddable: { ...plain(Type.Boolean()), of: ({ embeddable }) => embeddable === 1 },
    // LIVE-4, LIVE-5: `embed_html` is returned only if it is requested by name, and only while embedding is enabled.
    embed_html: {
      ...text,
      of: (row, { graphRequest }) => (row.embeddable === 1 ? embedHtml(graphRequest.baseUrl, row) : undefined),
    },
    place: { ...plain(placeSchema), of: (row) => (row.place === null ? undefined : JSON.parse(row.place)) },
    targeting: { ...plain(target), of: targetingOf },
    planned_start_time: time((row) => row.planned_start_time),
    creation_time: time((row) => row.creation_time),
    broadcast_start_time: time(({ broadcast_start_ms }) => (broadcast_start_ms === null ? null : Math.floor(broadcast_start_ms / 1000))),
    // D-110: only a video that was taken down has `takedown_reason`. A video that was taken down also has `restorable_until` as long as it can be
    // restored.
    takedown_reason: plain(Type.Union(takedownReasons.map((reason) => Type.Literal(reason)))),
    restorable_until: time(noticeEndOf),
    // D-115: a broadcast has `end_reason` only if it ended although nobody ended it.
    end_reason: plain(Type.Union(endReasons.map((reason) => Type.Literal(reason)))),
    permalink_url: { ...text, of: ({ id }, { graphRequest }) => playerUrl(graphRequest.baseUrl, id) },
    // The original page of a video, which may be another page than the one that lists the video (LIVE-25).
    page: pageField(policy),
    crossposted_pages: crosspostedPagesOf(policy),
    stream_url: stream("stream_url"),
    secure_stream_url: stream("secure_stream_url"),
    stream_key: stream("stream_key"),
  } satisfies Record<string, Field<LiveVideoRow>>;
}

const videoSet = (policy: Field["policy"]): FieldSet<LiveVideoRow> => ({
  fields: videoFields(policy),
  defaults: ["id", "title", "description", "status", "embeddable", "creation_time", "takedown_reason", "restorable_until", "end_reason"],
});

export const liveVideoNode = videoSet(liveVideoReading);
/**
 * The fields of a video in the list of a page and in the responses to a page. The policy of an operation on a page's videos also allows reading the
 * videos, so the policy is checked only once (D-16).
 */
const liveVideoOfPage = videoSet(liveVideo);

export const readLiveVideo = {
  ...access,
  policy: liveVideoReading,
  operation: "readLiveVideo",
  clauses: ["C2-1", "C2-2", "LIVE-2", "LIVE-3", "LIVE-4", "LIVE-5", "LIVE-18", "AUTH-7"],
  decisions: ["D-51", "D-110", "D-113", "D-115", "D-116"],
  errors: [],
} as const satisfies Access & { operation: string };

export const listLiveVideos = listOperation({
  ...access,
  operation: "listLiveVideos",
  summary: "Lists the live videos of a page and the live videos that other pages share with the page, newest first (D-51).",
  clauses: ["LIVE-2", "LIVE-18", "AUTH-7"],
  decisions: ["D-51", "D-113"],
  on: "page",
  edge: "live_videos",
  params: Type.Object({}),
  items: liveVideoOfPage,
  itemType: "live_video",
  errors: [],
});

/** D-114: the fields of a video that the live map shows. */
const { id, title, place, page, permalink_url, broadcast_start_time } = videoFields(liveMap);
const onMapSet: FieldSet<LiveVideoRow> = {
  fields: { id, title, place, page, permalink_url, broadcast_start_time },
  defaults: ["id", "title", "place", "broadcast_start_time"],
};

export const listLiveMap = listOperation({
  ...access,
  policy: liveMap,
  operation: "listLiveMap",
  summary:
    "Lists the live map: videos that are live and have a place, newest first. With country, lists the videos that are shown in that country; without country, lists the videos that are shown in every country (D-114).",
  clauses: ["C1-3", "LIVE-18", "LIM-9", "AUTH-7"],
  decisions: ["D-51", "D-114"],
  on: null,
  edge: "live_map",
  params: Type.Object({
    country: Type.Optional(
      Type.String({
        format: "country",
        description: "the country of the viewer, ISO 3166-1 alpha-2 (default: the list has only videos that are shown in every country)",
      }),
    ),
  }),
  items: onMapSet,
  itemType: "live_video",
  errors: ["invalidParameter"],
});

/** D-337: the greatest number of countries in a list; the world has fewer countries. */
const COUNTRIES_MAX = 300;

const countries = (description: string) => Type.Optional(Type.Array(Type.String({ format: "country" }), { maxItems: COUNTRIES_MAX, description }));

/**
 * The schema of `targeting`. Unknown properties are refused, because if a misspelt property were ignored, every country could see the video (D-113).
 */
export const targeting = closedMap({
  geo_locations: Type.Optional(
    closedMap(
      { countries: countries("the countries where the video may be watched; empty: all countries") },
      "the countries in which the video may be watched",
    ),
  ),
  excluded_countries: countries("the countries in which the video may not be watched"),
});

export const NO_OTHER_PAGE = "must be another page on which the caller may create content";

const common = {
  title: Type.Optional(Type.String({ maxLength: TITLE_CHARACTERS_MAX, description: "the video's title" })),
  description: Type.Optional(Type.String({ maxLength: DESCRIPTION_CHARACTERS_MAX, description: "the subject of the video" })),
  planned_start_time: Type.Optional(
    Type.Unsafe<number>({ ...worldTime, description: "when the broadcast is planned: Unix seconds or ISO 8601, in the future" }),
  ),
  embeddable: Type.Optional(Type.Boolean({ description: "whether other sites may embed the video" })),
  /**
   * C1-6, D-51: the place is the id of a place or page, or `{id}`, or `{location{latitude,longitude}}`. If the value is null or an empty text, the
   * place is removed.
   */
  place: Type.Optional(
    Type.Union([sentPlace, Type.Literal(""), Type.Null()], {
      description: "the place of the video on the live map, as an object or its JSON text; null or an empty text removes the place",
    }),
  ),
  targeting: Type.Optional({ ...targeting, description: "the countries where the video may be watched" }),
  crossposting_actions: Type.Optional(
    Type.Array(
      Type.Object({
        page_id: Type.Unsafe<NodeId>({ ...worldId, description: "another page, on which the caller may publish", [PROBLEM]: NO_OTHER_PAGE }),
        action: Type.Optional(Type.Union([Type.Literal("enable_crossposting"), Type.Literal("disable_crossposting")])),
      }),
      { maxItems: CROSSPOSTED_PAGES_MAX, description: "the pages that start or stop sharing the video" },
    ),
  ),
};

/** The values of `status` that publish or plan a video. The values `LIVE` and `LIVE_NOW` both publish the video. */
const publishing = ["LIVE_NOW", "LIVE", "SCHEDULED_UNPUBLISHED", "SCHEDULED_LIVE"] as const;
const planning: readonly string[] = ["SCHEDULED_UNPUBLISHED", "SCHEDULED_LIVE"];
/** D-111: a request that plans a video must have `planned_start_time`; a request with another `status` must not have `planned_start_time`. */
const withPlan = {
  if: { required: ["status"], properties: { status: { enum: planning } } },
  // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
  then: having("planned_start_time"),
  else: { not: having("status", "planned_start_time") },
};
const isTrue = { const: true };
/** LIVE-10: a request that ends the video cannot also ask for a key or another status. */
const withoutEnd = {
  not: {
    anyOf: [
      { required: ["end_live_video", "status"], properties: { end_live_video: isTrue, status: {} } },
      { required: ["end_live_video", "regenerate_stream_key"], properties: { end_live_video: isTrue, regenerate_stream_key: isTrue } },
    ],
  },
};
const wantedStatus = (...names: readonly string[]) =>
  Type.Union(
    names.map((one) => Type.Literal(one)),
    { description: "the new status of the video; a planned video needs planned_start_time" },
  );

const streamAddress = {
  stream_url: Type.Optional(Type.String()),
  secure_stream_url: Type.Optional(Type.String()),
  stream_key: Type.Optional(Type.String()),
};

export const createLiveVideo = writeOperation({
  ...access,
  operation: "createLiveVideo",
  summary: "Creates a live video on a page. Only this response contains the address and key for the encoder (D-51).",
  clauses: ["LIVE-2", "LIVE-18", "LIVE-12", "AUTH-7"],
  decisions: ["D-51", "D-110", "D-111", "D-113", "D-115"],
  on: "page",
  method: "POST",
  edge: "live_videos",
  params: Type.Object({ ...common, status: Type.Optional(wantedStatus("UNPUBLISHED", ...publishing)) }, withPlan),
  returns: Type.Object({ id: Type.String(), ...streamAddress }),
  readBack: { type: "live_video", set: liveVideoOfPage as FieldSet },
  errors: ["invalidParameter"],
});

export const updateLiveVideo = writeOperation({
  ...access,
  operation: "updateLiveVideo",
  summary: "Updates a live video: embedding, place, targeting, plan; publishes or ends it, or creates a new stream key (C1).",
  clauses: ["C1-1", "C1-2", "C1-3", "C1-4", "C1-5", "LIVE-7", "LIVE-8", "LIVE-9", "LIVE-10", "LIM-8", "LIVE-18", "AUTH-7"],
  decisions: ["D-51", "D-110", "D-111", "D-112", "D-113", "D-115"],
  on: "live_video",
  method: "POST",
  edge: null,
  visibility: liveVideo,
  params: Type.Object(
    {
      ...common,
      status: Type.Optional(wantedStatus(...publishing, "SCHEDULED_CANCELED")),
      end_live_video: Type.Optional(Type.Boolean({ description: "true ends the broadcast" })),
      regenerate_stream_key: Type.Optional(Type.Boolean({ description: "true gives a new stream key, which the response contains" })),
    },
    { ...withPlan, ...withoutEnd },
  ),
  returns: Type.Object({ id: Type.String(), success: Type.Boolean(), ...streamAddress }),
  readBack: { type: "live_video", set: liveVideoOfPage as FieldSet },
  errors: ["invalidParameter"],
});

export const deleteLiveVideo = writeOperation({
  ...access,
  operation: "deleteLiveVideo",
  summary: "Deletes a live video permanently (LIVE-13, LIVE-14).",
  clauses: ["LIVE-13", "LIVE-14", "ERR-38", "LIVE-18", "AUTH-7"],
  decisions: ["D-51", "D-110"],
  on: "live_video",
  method: "DELETE",
  edge: null,
  visibility: liveVideo,
  params: Type.Object({}),
  returns: Type.Object({ success: Type.Boolean() }),
  errors: [],
});
