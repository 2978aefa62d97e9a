/** Requests that the server accepts, with at least one for each operation that has parameters. */
import type { Endpoint } from "#graph/contract/registry";
import type { SurfaceName } from "#graph/pipeline/request";
import { fullWorld, nodeOfType } from "#harness/full-world";
import type { TestPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Json } from "./variants.ts";

const schedule = {
  ...{ interval: "WEEKLY", interval_count: 2, url: "https://example.com/books.csv", hour: 3, minute: 30, day_of_week: "TUESDAY" },
  ...{ day_of_month: 4, timezone: "Europe/Berlin", username: null, password: null },
};

const extinfo = ["a2", "com.example", "1", "1.0", "14", "Pixel", "en_US", "UTC", "carrier", 1080, 1920, "2", 8, 64, 32, "UTC"];
const event = {
  ...{ _eventName: "pf_mobile_purchase", event_id: "e1", _logTime: 1_794_999_000, _valueToSum: 9.5, advertiser_tracking_enabled: 1 },
  ...{ pf_currency: "EUR", pf_content_type: "product", pf_num_items: 2, pf_success: 1, pf_description: "books", colour: "red" },
};
const device = {
  ...{ application_tracking_enabled: 1, advertiser_tracking_enabled: 1, advertiser_id: "cdda802e-fb9c-47ad-9866-0794d394c912" },
  ...{ attribution: "0123456789abcdefABCDEF", ud: { em: "1".repeat(64) }, extinfo, consider_views: false },
};
const live = {
  ...{ title: "Opening", description: "of the terrace", embeddable: true },
  ...{ targeting: { geo_locations: { countries: ["DE"] }, excluded_countries: ["FR"] }, crossposting_actions: [] },
};
const exchange = {
  ...{ client_id: "1001", client_secret: "s3cret", grant_type: "client_credentials" },
  ...{ code: "code", redirect_uri: "https://example.com/back", code_verifier: "v" },
};
const place = { id: "9901", location: { latitude: 52.5, longitude: 13.4 } };

/** For each operation, requests that together use all of its parameters. */
export const taken = (callback: string): Readonly<Record<string, readonly Json[]>> => {
  return {
    updateApp: [{ migrations: { label_names_case_insensitive: true } }],
    createLabel: [{ page_label_name: "regular" }],
    attachLabel: [{ user: "9001" }],
    detachLabel: [{ user: "9001" }],
    createPersona: [{ name: "Bo", profile_picture_url: "https://example.com/bo.png" }],
    inspectToken: [{ input_token: "full-user" }],
    listRequiredActions: [{ statuses: ["in_progress"] }],
    listLiveMap: [{ country: "DE" }],
    createLiveVideo: [
      { ...live, place, planned_start_time: 1_900_000_000, status: "SCHEDULED_LIVE" },
      { place: "9901", planned_start_time: "2030-01-01T10:00:00Z", crossposting_actions: [{ page_id: "2002" }] },
      { place: null, status: "UNPUBLISHED" },
    ],
    updateLiveVideo: [{ ...live, place, end_live_video: false, regenerate_stream_key: true, planned_start_time: 1_900_000_000 }],
    createLiveComment: [{ message: "hello" }],
    createLiveReaction: [{ type: "LOVE" }],
    readMediaInsights: [{ metric: ["views"] }],
    readUserInsights: [{ metric: ["likes"], since: 1_794_000_000, until: 1_794_900_000, breakdown: "city" }],
    createCatalog: [
      {
        ...{ name: "Books", vertical: "commerce", business_id: "3501" },
        business_metadata: { external_business_id: "b1", agency: { business_id: "3501", permitted_tasks: ["240588526848665"] } },
      },
    ],
    createFeed: [
      { name: "books", schedule, update_schedule: null },
      { name: "books", schedule: "", update_schedule: schedule },
      { name: "books", update_schedule: "" },
    ],
    updateFeed: [{ name: "books", schedule, update_schedule: null }, { schedule: "", update_schedule: schedule }, { update_schedule: "" }],
    createUpload: [{ url: "https://example.com/books.csv", update_only: true, username: null, password: null }],
    listArticlesAndPublications: [{ summary: true }],
    // The operation H3 has no parameters.
    setAccountOverride: [{ override_callback_uri: callback, verify_token: "secret" }, {}],
    setNumberOverride: [
      { webhook_configuration: { override_callback_uri: callback, verify_token: "secret" } },
      { webhook_configuration: { override_callback_uri: "" } },
    ],
    subscribeApp: [
      { object: "page", callback_url: callback, fields: ["custom_labels"], verify_token: "secret" },
      { object: "social", callback_url: callback, fields: ["comments"], verify_token: "secret" },
      { object: "chatapp_business_account", callback_url: callback, fields: ["template_category_update"], verify_token: "secret" },
      { object: "catalog", callback_url: callback, fields: ["product_feed"], verify_token: "secret" },
    ],
    endSubscription: [
      { object: "page", fields: ["custom_labels"] },
      { object: "social", fields: ["comments"] },
      { object: "chatapp_business_account", fields: ["template_category_update"] },
      { object: "catalog", fields: ["product_feed"] },
    ],
    subscribeToPage: [{ subscribed_fields: ["custom_labels"] }],
    sendSelfMessage: [{ message: { text: "hello, me", quick_replies: [] } }],
    setSolutionMigrationIntent: [{ solution_id: "4201", destination_waba: "4002" }],
    reportAppEvents: [
      { event: "CUSTOM_APP_EVENTS", custom_events: [event], ...device },
      { event: "MOBILE_APP_INSTALL", ...device },
    ],
    readAccessToken: [exchange],
    createAccessToken: [exchange],
    extendAccessToken: [{ grant_type: "pf_exchange_token", client_secret: "s3cret" }],
    refreshAccessToken: [{ grant_type: "pf_refresh_token" }],
    deletePermission: [{ permission: "pages_messaging" }],
    listAttribution: [{ advertiser_id: "cdda802e-fb9c-47ad-9866-0794d394c912", attribution: "", event: "CUSTOM_APP_EVENTS", consider_views: true }],
  };
};

const tokenTypes = ["page", "user", "app", "social_user", "microblog_user", "system_user"];
const kindsOf: Readonly<Record<string, string>> = { createCatalog: "user", sendSelfMessage: "page", inspectToken: "microblog_user" };

/** A world in which the caller may publish on a second page, and the app is subscribed to a second account. */
export const world = {
  ...fullWorld,
  pages: fullWorld.pages.map((page) => ({ ...page, roles: [{ user: "3001", tasks: ["MESSAGING", "CREATE_CONTENT", "MANAGE", "MODERATE"] }] })),
  chatapp_accounts: fullWorld.chatapp_accounts.map((account) => ({ subscribed_apps: [{ app: "1001" }], ...account })),
};

const ofPerson = { type: "user", app: nodeId("1001"), user: nodeId("3001"), scopes: ["pages_messaging"] } as const;

export interface Verdict {
  /** Whether the server refuses the request because of a parameter. */
  readonly isRefused: boolean;
  readonly status: number;
  readonly said: string;
}

export async function send(plaza: TestPlaza, { access, served, nodeType }: Endpoint, params: Json): Promise<Verdict> {
  const kinds = access.policy.kinds as readonly string[];
  const given = `full-${kindsOf[access.operation] ?? tokenTypes.find((one) => kinds.includes(one))}`;
  // D-384: this request may end the token that the request itself uses.
  const token = access.operation === "deletePermission" ? await plaza.mint(ofPerson) : given;
  const contract = served?.contract;
  const isBody = contract?.method === "POST";
  const surface = (access.surfaces[0] ?? access.clientsSurfaces?.[0]) as SurfaceName;
  const path = `${nodeType === undefined ? "" : `/${nodeOfType[nodeType]}`}${contract?.edge === null ? "" : `/${contract?.edge}`}`;
  const isVersioned = access.versions !== "unversioned" && surface !== "microblog" && surface !== "app";
  const query = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : value]));
  const { status, body } = await plaza.request(contract?.method ?? "GET", `${isVersioned ? "/v25.0" : ""}${path}`, {
    surface,
    headers: { "x-forwarded-for": "203.0.113.9", authorization: `Bearer ${token}` },
    query: {
      ...(access.scheme === "pageMessaging" ? { access_token: token, oauth_token: token } : access.scheme === "query" ? { access_token: token } : {}),
      ...(isBody ? {} : query),
    },
    ...(isBody ? { body: params } : {}),
  });
  const error = body?.error ?? body;
  return {
    isRefused: status === 400 && error.code === 100 && error.error_data?.parameter !== undefined,
    status,
    said: error?.message ?? JSON.stringify(body).slice(0, 150),
  };
}
