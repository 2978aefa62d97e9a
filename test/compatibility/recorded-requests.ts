/** The requests whose responses a fixture records: reads of every type on every API of the graph, and the lists and exports of the control API. */
import { createHmac } from "node:crypto";
import type { RecordedRequest } from "./responses.ts";

type On = RecordedRequest["on"];

const bearer = (path: string, token: string, on: On = "base_url"): RecordedRequest => ({ on, path, headers: { authorization: `Bearer ${token}` } });

const inQuery = (path: string, token: string, on: On = "base_url"): RecordedRequest => ({
  on,
  path: `${path}${path.includes("?") ? "&" : "?"}access_token=${token}`,
});

/** A read of page messaging, which requires the token twice in the query and once in the header. */
const everywhere = (path: string, token = "cafe"): RecordedRequest => ({
  ...inQuery(`${path}${path.includes("?") ? "&" : "?"}oauth_token=${token}`, token),
  headers: { authorization: `Bearer ${token}` },
});

const control = (path: string): RecordedRequest => ({ on: "control_url", path: `/v1/worlds/default/${path}` });

const VERSIONS = ["v20.0", "v21.0", "v22.0", "v23.0", "v24.0", "v25.0", "v26.0"];

const pageMessaging: readonly RecordedRequest[] = [
  ...VERSIONS.map((version) => everywhere(`/${version}/2001/custom_labels`, "cafe-old")),
  ...VERSIONS.map((version) => everywhere(`/${version}/5001`)),
  everywhere("/2001/custom_labels"),
  everywhere("/v26.0/2001/custom_labels?limit=2"),
  everywhere("/v26.0/2001/custom_labels?fields=id,name,page"),
  everywhere("/v26.0/2001/custom_labels", "ada"),
  everywhere("/v26.0/2001/custom_labels", "minted"),
  everywhere("/v26.0/9001/custom_labels"),
  everywhere("/v26.0/9002/custom_labels"),
  everywhere("/v26.0/9003/custom_labels"),
  everywhere("/v26.0/5002?fields=id,page_label_name,page"),
  everywhere("/v26.0/5003"),
  everywhere("/v26.0/5004"),
  everywhere("/v26.0/5005"),
  everywhere("/v26.0/5005", "bakery"),
  everywhere("/v26.0/2001/personas"),
  everywhere("/v26.0/2001/personas?limit=1"),
  everywhere("/v26.0/2002/personas", "bakery"),
  everywhere("/v26.0/5101"),
  everywhere("/v26.0/5102?fields=name,page"),
  everywhere("/v26.0/5103"),
  everywhere("/v26.0/2001/custom_labels", "cafe-expired"),
  everywhere("/v26.0/2001/custom_labels", "revoked"),
  everywhere("/v26.0/2001/custom_labels", "stranger"),
  everywhere("/v26.0/2001/custom_labels", "cafe-careful"),
  everywhere(
    `/v26.0/2001/custom_labels?appsecret_proof=${createHmac("sha256", "careful-secret").update("cafe-careful").digest("hex")}`,
    "cafe-careful",
  ),
  everywhere("/v26.0/2001/custom_labels", "unknown"),
  bearer("/v26.0/2001/custom_labels", "cafe"),
  everywhere("/v26.0/?ids=5001,5101"),
];

const LIVE_FIELDS =
  "id,title,description,status,embeddable,embed_html,place,targeting,planned_start_time,creation_time,broadcast_start_time,permalink_url,page,crossposted_pages";

const liveVideos: readonly RecordedRequest[] = [
  bearer("/v26.0/2001/live_videos", "cafe"),
  bearer(`/v26.0/2001/live_videos?limit=4&fields=${LIVE_FIELDS}`, "cafe"),
  bearer("/v26.0/2002/live_videos", "bakery"),
  ...Array.from({ length: 18 }, (_, index) => bearer(`/v26.0/${5301 + index}?fields=${LIVE_FIELDS}`, "ada")),
  bearer("/v26.0/5302", "stranger"),
  bearer("/v26.0/live_map", "cafe"),
  bearer("/v26.0/live_map?country=DE", "cafe"),
  bearer("/v26.0/live_map?country=US&limit=1", "ada"),
  bearer("/v26.0/5302/comments", "cafe"),
  bearer("/v26.0/5302/comments?limit=1", "ada"),
  bearer("/v26.0/5302/reactions?fields=id,from,type", "cafe"),
];

const socialAndMicroblog: readonly RecordedRequest[] = [
  inQuery("/v26.0/6001/tags", "ada"),
  inQuery(
    "/v26.0/6001/tags?limit=2&fields=id,caption,comments_count,like_count,media_product_type,media_type,media_url,owner,permalink,shortcode,thumbnail_url,timestamp,username,children",
    "ada",
  ),
  inQuery("/v26.0/6001/tags", "ben"),
  inQuery("/v26.0/6001/tags", "stranger"),
  bearer("/v26.0/6901/messages", "self", "social_login_host"),
  inQuery("/7101/insights?metric=views,likes,replies,reposts,quotes,shares", "talk", "microblog_base_url"),
  inQuery("/7102/insights?metric=views", "talk", "microblog_base_url"),
  inQuery("/7001/microblog_insights?metric=views,likes,replies,reposts,quotes,followers_count", "talk", "microblog_base_url"),
  inQuery("/7001/microblog_insights?metric=views,clicks&since=1794700000&until=1795000000", "talk", "microblog_base_url"),
  ...["country", "city", "age", "gender"].map((breakdown) =>
    inQuery(`/7001/microblog_insights?metric=follower_demographics&breakdown=${breakdown}`, "talk", "microblog_base_url"),
  ),
  inQuery("/7002/microblog_insights?metric=views", "talk", "microblog_base_url"),
  ...["talk", "ada", "cafe", "cafe-expired", "revoked", "chat", "self", "shop-app", "nothing"].map((token) =>
    inQuery(`/debug_token?input_token=${token}`, "talk", "microblog_base_url"),
  ),
];

const appsAndBusiness: readonly RecordedRequest[] = [
  bearer("/v26.0/1001?fields=id,name,migrations", "shop-app"),
  bearer("/v26.0/1002", "old-app"),
  bearer("/v26.0/1001", "stranger"),
  bearer("/v26.0/1001/subscriptions", "shop-app"),
  bearer("/v26.0/2001/subscribed_apps", "cafe"),
  { ...bearer("/1001/required_actions", "shop-app", "app_base_url"), headers: { authorization: "Bearer shop-app", "x-api-version": "1.0.0" } },
  bearer("/1001/required_actions?statuses=past_due,completed", "shop-app", "app_base_url"),
  bearer("/v26.0/1001/app_attribution?advertiser_id=device-one", "shop-app"),
  bearer("/v26.0/1001/app_attribution?advertiser_id=device-one&event=CUSTOM_APP_EVENTS", "shop-app"),
  bearer("/v26.0/1001/app_attribution?attribution=abcdefghij0123456789AB&consider_views=TRUE", "shop-app"),
  bearer("/v26.0/1001/app_attribution?advertiser_id=device-two", "shop-app"),
  ...["v23.0", "v24.0", "v25.0"].map((version) => bearer(`/${version}/8101/articles_and_publications?summary=true`, "ada")),
  bearer(
    "/v25.0/8101/articles_and_publications?fields=id,retailer_id,name,description,price,sale_price,currency,brand,publication_category,date_published,author,genre,in_language,user_rating,rating_count,availability,custom_label_0,custom_label_1,custom_label_4",
    "ada",
  ),
  bearer("/v25.0/8102/articles_and_publications?limit=1&fields=retailer_id,name,url,price", "ada"),
  bearer("/v25.0/8103/articles_and_publications", "ben"),
  bearer("/v24.0/8101/articles_and_publications", "old-ada"),
  bearer("/v25.0/8101/articles_and_publications", "stranger"),
  bearer("/v25.0/pages/2001/owned_product_catalogs", "ada", "ads_base_url"),
  bearer("/v26.0/4001", "chat"),
  bearer("/v26.0/4001/phone_numbers", "chat"),
  bearer("/v26.0/4001/phone_numbers?limit=1", "chat"),
  bearer("/v26.0/4001/subscribed_apps", "chat"),
  bearer("/v26.0/4002/subscribed_apps", "chat"),
  bearer("/v26.0/4101", "chat"),
  ...["4301", "4302", "4303"].map((id) => bearer(`/v24.0/${id}?fields=id,status,solution,waba`, "chat")),
  bearer("/v25.0/4302?fields=destination_waba", "chat"),
  bearer("/v25.0/4303?fields=destination_waba", "chat"),
  bearer("/v25.0/4304?fields=status", "chat"),
  bearer("/v23.0/4301", "chat"),
  bearer("/v26.0/4301", "chat"),
];

/** The keys of a world file. Entries of a world file that have no id can only be listed, not read by id. */
const KEYS = [
  ...["apps", "users", "businesses", "pages", "labels", "personas", "required_actions", "live_videos", "live_comments", "live_reactions"],
  ...["social_accounts", "media", "microblog_users", "microblog_media", "activity", "followers", "catalogs", "product_feeds"],
  ...["chatapp_accounts", "phone_numbers", "solutions", "migration_intents", "ads"],
];

const controlApi: readonly RecordedRequest[] = [
  control("export?secrets=true"),
  control("clock"),
  ...KEYS.map((key) => control(`nodes/${key}`)),
  control("nodes/labels?limit=2"),
  control("tokens"),
  ...["apps/1001", "apps/1002", "pages/2001", "labels/5004", "live_videos/5316", "live_videos/5317", "users/3005"].map((path) =>
    control(`nodes/${path}`),
  ),
  ...[5301, 5302, 5304, 5305, 5306, 5309, 5311, 5314, 5315, 5316].map((id) => control(`live-videos/${id}/ingest`)),
  control("live-videos/5303/viewer?country=DE"),
  control("live-videos/5303/viewer?country=US"),
  ...["8101", "8102", "8103"].map((feed) => control(`feeds/${feed}/uploads`)),
  control("feeds/8102/uploads/1"),
  control("feeds/8102/uploads/3"),
  control("deliveries"),
  control("deliveries?limit=20"),
  ...["waiting", "sending", "delivered", "failed"].map((status) => control(`deliveries?status=${status}`)),
  control("deliveries?field=calls"),
  control("callbacks"),
  control("app-events/1001"),
  control("app-events/1001?limit=2"),
  control("app-events/1001?name=pf_mobile_purchase"),
  control("app-events/1002"),
  control("app-events/1001/export"),
  control("app-events/1001/names"),
  control("app-events/1001/sums"),
  control("app-events/1001/report"),
  control("app-events/1001/test-events"),
  control("app-events-retention"),
  control("faults"),
];

export const recordedRequests: readonly RecordedRequest[] = [
  ...pageMessaging,
  ...liveVideos,
  ...socialAndMicroblog,
  ...appsAndBusiness,
  ...controlApi,
];

/** Requests that a first response leads to: the further pages of a list, by its cursors, for lists with few rows, and each webhook of a list. */
export function requestsBehind({ on, path, headers }: RecordedRequest, body: unknown): RecordedRequest[] {
  const { data, paging } = body as { data?: { id?: string }[]; paging?: { next?: string; cursors?: { after?: string } } };
  const also = headers === undefined ? {} : { headers };
  if (path.endsWith("/deliveries")) return (data ?? []).map(({ id }) => control(`deliveries/${id}`));
  if (!path.includes("limit=")) return [];
  if (paging?.next !== undefined) return [{ on, path: paging.next.replace(/^\{\w+\}/, ""), ...also }];
  const after = paging?.cursors?.after;
  if (after === undefined || !path.includes("/tags") || path.includes("after=")) return [];
  return [{ on, path: `${path}&after=${after}`, ...also }];
}
