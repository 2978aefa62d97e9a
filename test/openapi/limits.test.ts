/**
 * What the document says that a request may be is what the server takes: requests that differ in one place from one that is taken are sent, and
 * where the document allows one the server must not refuse it for a parameter, and the other way round.
 */
import { describe, expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020";
import type { Endpoint } from "#graph/contract/registry";
import type { SurfaceName } from "#graph/pipeline/request";
import { fullWorld, nodeOfType, openFullPlaza } from "#harness/full-world";
import type { TestPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { pointer } from "./documented-exchanges.ts";
import { documentOf, registry } from "./documents.ts";
import { type Json, variantsOf } from "./variants.ts";

const schedule = {
  ...{ interval: "WEEKLY", interval_count: 2, url: "https://example.com/books.csv", hour: 3, minute: 30, day_of_week: "TUESDAY" },
  ...{ day_of_month: 4, timezone: "Europe/Berlin", username: null, password: null },
};

/** Of each operation with parameters: all of them that go together. */
const taken = (callback: string): Readonly<Record<string, readonly Json[]>> => {
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
  const place = { id: "9901", location: { latitude: 52.5, longitude: 13.4 } };
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
      { name: "books", schedule: "" },
    ],
    updateFeed: [{ name: "books", schedule, update_schedule: null }],
    createUpload: [{ url: "https://example.com/books.csv", update_only: true, username: null, password: null }],
    listArticlesAndPublications: [{ summary: true }],
    // H3 has no parameters.
    setAccountOverride: [{ override_callback_uri: callback, verify_token: "secret" }, {}],
    setNumberOverride: [
      { webhook_configuration: { override_callback_uri: callback, verify_token: "secret" } },
      { webhook_configuration: { override_callback_uri: "" } },
    ],
    subscribeApp: [
      { object: "page", callback_url: callback, fields: ["custom_labels"], verify_token: "secret" },
      { object: "social", callback_url: callback, fields: ["comments"], verify_token: "secret" },
    ],
    endSubscription: [{ object: "page", fields: ["custom_labels"] }],
    subscribeToPage: [{ subscribed_fields: ["custom_labels"] }],
    sendSelfMessage: [{ message: { text: "hello, me", quick_replies: [] } }],
    setSolutionMigrationIntent: [{ solution_id: "4201", destination_waba: "4002" }],
    reportAppEvents: [
      { event: "CUSTOM_APP_EVENTS", custom_events: [event], ...device },
      { event: "MOBILE_APP_INSTALL", ...device },
    ],
    listAttribution: [{ advertiser_id: "cdda802e-fb9c-47ad-9866-0794d394c912", attribution: "", event: "CUSTOM_APP_EVENTS", consider_views: true }],
  };
};

/** What is refused by rules that no schema says, by what the server says of it: of what is stored, of the time, of parameters together. */
const refusedBeyond: readonly { readonly because: string; readonly said: RegExp }[] = [
  { because: "D-40: two labels of a page have two names", said: /^.{6} Param page_label_name is already used by the label/ },
  {
    because: "D-111: a plan is of the future",
    said: /planned_start_time must be in the future/,
  },
  { because: "LIVE-10: what has ended needs no key", said: /regenerate_stream_key cannot be combined with end_live_video/ },
  { because: "ATTR-9, ATTR-10: each platform has cookies of one form", said: /attribution must be a UUID for platform i2/ },
  { because: "D-146: names of the time zone database", said: /timezone is not a name of the time zone database/ },
  {
    because: "D-54: a range of time begins before it ends, and followers are counted now",
    said: /since (must be before until|cannot be combined with)/,
  },
  { because: "EVT-43: a price has a currency", said: /pf_currency is required because the _valueToSum/ },
  { because: "EVT-39: the form of JSON inside of a text", said: /pf_content must be a JSON list of objects/ },
  // OpenAPI has no words for parameters of a query that depend on each other, or that nobody may add to.
  { because: "D-60: fields of an object", said: /^.{6} Param (object is required with fields|fields contains a field that \w+ does not have)/ },
  { because: "D-74: a device has one id at least", said: /^.{6} Param advertiser_id or attribution is required/ },
  { because: "D-50: a misspelt filter", said: /^.{6} Param unheard_of is not known here/ },
];

/** What the document does not promise and the server takes. */
const takenBeyond: readonly { readonly because: string; isOf(operation: string, place: string, params: Json): boolean }[] = [
  { because: "UD-3, D-73: a value that is no hash is dropped, not refused", isOf: (_operation, place) => place.startsWith("ud.") },
  {
    because: "I1-17: the list belongs to reports of custom events, and nothing looks at it in another",
    isOf: (operation, place, { event }) => operation === "reportAppEvents" && place === "custom_events" && event === "MOBILE_APP_INSTALL",
  },
];

const tokenTypes = ["page", "user", "app", "social_user", "microblog_user", "system_user"];
const kindsOf: Readonly<Record<string, string>> = { createCatalog: "user", sendSelfMessage: "page", inspectToken: "microblog_user" };

/** Where the caller may publish on another page, and the app is subscribed on another account. */
const world = {
  ...fullWorld,
  pages: fullWorld.pages.map((page) => ({ ...page, roles: [{ user: "3001", tasks: ["MESSAGING", "CREATE_CONTENT", "MANAGE", "MODERATE"] }] })),
  chatapp_accounts: fullWorld.chatapp_accounts.map((account) => ({ subscribed_apps: [{ app: "1001" }], ...account })),
};

interface Verdict {
  /** For a parameter. */
  readonly isRefused: boolean;
  readonly status: number;
  readonly said: string;
}

async function send(plaza: TestPlaza, { access, served, nodeType }: Endpoint, params: Json): Promise<Verdict> {
  const kinds = access.policy.kinds as readonly string[];
  const token = `full-${kindsOf[access.operation] ?? tokenTypes.find((one) => kinds.includes(one))}`;
  const contract = served?.contract;
  const isBody = contract?.method === "POST";
  const surface = access.surfaces[0] as SurfaceName;
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

for (const profile of ["strict", "clients"] as const) {
  describe(`the document of ${profile}`, () => {
    const document = documentOf({ profile });
    const ajv = new Ajv2020({ strict: false }).addFormat("uri", URL.canParse).addFormat("binary", true);
    ajv.addSchema(document, "document");
    const names = Object.keys(taken(""));

    /** Of the parameters of an operation, as one object. */
    function schemaOf({ access, nodeType }: Endpoint): object {
      const { paths } = documentOf({ profile, ...(nodeType === undefined ? {} : { type: nodeType }) });
      const operation = Object.values(paths)
        .flatMap((item) => Object.values(item))
        .find((one) => one.operationId === access.operation);
      if (operation === undefined) throw new Error(`no operation ${access.operation}`);
      const name = `${access.operation[0]?.toUpperCase()}${access.operation.slice(1)}Request`;
      if (name in document.components.schemas) return { $ref: `document#${pointer("components", "schemas", name)}` };
      const own = operation.parameters.filter((one) => one.in === "query" && one.name !== undefined);
      const schema = JSON.stringify({
        type: "object",
        properties: Object.fromEntries(own.map((one) => [one.name, one.schema])),
        required: own.filter((one) => one.required).map((one) => one.name),
      });
      return JSON.parse(schema.replaceAll('"#/components', '"document#/components'));
    }

    test("all operations with parameters are asked", () => {
      const withParameters = registry.endpoints.filter(({ served }) => Object.keys(served?.contract.params.properties ?? {}).length > 0);
      expect(new Set(names)).toEqual(new Set(withParameters.map(({ access }) => access.operation)));
    });

    for (const endpoint of registry.endpoints) {
      const { operation } = endpoint.access;
      if (!names.includes(operation)) continue;
      test(`${operation} takes what the document allows, and nothing else`, async () => {
        const plaza = await openFullPlaza({ profile, world });
        const allows = ajv.compile(schemaOf(endpoint));
        const samples = taken(startReceiver().url)[operation] ?? [];
        const parted: string[] = [];
        for (const sample of samples) {
          const first = await send(plaza, endpoint, sample);
          expect({ sample, allowed: allows(sample), why: ajv.errorsText(allows.errors), refused: first.isRefused, said: first.said }).toMatchObject({
            allowed: true,
            refused: false,
          });
          for (const { place, value, params } of variantsOf(sample, JSON.parse(JSON.stringify(document)), schemaOf(endpoint))) {
            // In a query a list or an object is its text.
            if (endpoint.served?.contract.method !== "POST" && typeof value === "object" && typeof sample[place] === "string") continue;
            const isAllowed = allows(params);
            const { isRefused, status, said } = await send(plaza, endpoint, params);
            const isParted = isAllowed
              ? isRefused && !refusedBeyond.some((rule) => rule.said.test(said))
              : status !== 400 && !takenBeyond.some((rule) => rule.isOf(operation, place, params));
            if (isParted)
              parted.push(`${place}: ${JSON.stringify(value)?.slice(0, 60)}: ${isAllowed ? "allowed" : "not allowed"}, ${status} ${said}`);
          }
        }
        expect(parted).toEqual([]);
      }, 60_000);
    }
  });
}
