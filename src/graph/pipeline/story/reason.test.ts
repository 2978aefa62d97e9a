/**
 * D-400: every error that a caller can cause has a reason with the change that solves it, and every write without a webhook has such a reason, too.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza, type TestRequest } from "#harness/plaza";
import { changeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import * as errors from "#kernel/errors";
import type { RequestEntry } from "../../worlds/request-log.ts";
import { reasonOf } from "./reason.ts";
import { refusalStory } from "./story.ts";

const labels = "/v26.0/2001/custom_labels";

/** The reason in the log why a request was refused or caused no webhook. */
async function reason(
  plaza: TestPlaza,
  method: string,
  path: string,
  request: TestRequest = {},
): Promise<{ error?: string | undefined; reason?: string | undefined }> {
  const response = await plaza.request(method, path, request);
  const entry = { operation: response.operation, method, path, surface: "base", status: response.status, story: response.text, app: "1001" };
  return { error: response.story?.error, reason: await reasonOf(entry as RequestEntry, plaza.registry, plaza.world) };
}

/** A request that is refused before it reaches the pipeline. */
const before = (error: errors.GraphError) => async (plaza: TestPlaza) => ({
  error: error.errorName,
  reason: await reasonOf(
    { operation: "unknown", method: "GET", path: "/", surface: "base", story: refusalStory(error) } as RequestEntry,
    plaza.registry,
    plaza.world,
  ),
});

type Ask = (plaza: TestPlaza) => Promise<{ error?: string | undefined; reason?: string | undefined }>;
const asked =
  (method: string, path: string, request: TestRequest = {}): Ask =>
  (plaza) =>
    reason(plaza, method, path, request);
const needed = "the request needs a page token of 2001 or a user token or a system_user token with the scope pages_messaging.";

const cases: Readonly<Record<string, readonly (readonly [Ask, string])[]>> = {
  tokenMissing: [
    [asked("GET", labels), `The request has no token in access_token: ${needed}`],
    [asked("GET", labels, { bearer: "page" }), `The request has no token in access_token: ${needed}`],
  ],
  tokenInvalid: [
    [asked("GET", labels, { token: "nobody" }), `This world has no token with the value in Authorization: ${needed}`],
    [
      asked("GET", labels, { query: { access_token: "page", oauth_token: "page" }, headers: { authorization: "Basic a" } }),
      `Invalid OAuth access token in Authorization: the value is not a bearer token: ${needed}`,
    ],
  ],
  tokenExpired: [[asked("GET", labels, { token: "expired" }), `The token in Authorization has expired: ${needed}`]],
  tokenRevoked: [
    [
      async (plaza) => {
        await plaza.world.database.write(async (tx) => plaza.world.tokens.endPageTokens(tx, "2001" as never, "3001" as never, 1_795_000_000));
        return reason(plaza, "GET", labels, { token: "page" });
      },
      `The token in Authorization was revoked: ${needed}`,
    ],
  ],
  tokenOfOtherApp: [
    [
      asked("GET", labels, { query: { access_token: "other-app", oauth_token: "page" }, bearer: "page" }),
      "Error validating access token in access_token: it belongs to another app: send tokens of one app only, the app to which the object belongs.",
    ],
  ],
  permissionMissing: [
    [
      asked("GET", labels, { token: "no-scope" }),
      "A page token of 2001 lacks the scope pages_messaging: send a token with the scope pages_messaging.",
    ],
  ],
  taskMissing: [
    [asked("GET", labels, { token: "bob" }), "This request requires the page task MESSAGING: send a token of a person with this task or role."],
  ],
  unsupportedRequest: [
    [asked("GET", labels, { token: "app" }), `The token in Authorization is an app token of app 1001: ${needed}`],
    [asked("GET", labels, { token: "bar" }), `Page 2001 exists, and a page token of 2002 may not see it: ${needed}`],
    [asked("GET", "/v26.0/2001/custom_label", { token: "page" }), "Page 2001 has no edge custom_label; did you mean custom_labels?"],
    [
      asked("DELETE", "/v26.0/2001/custom_labels", { token: "page" }),
      "Page 2001 does not support DELETE of custom_labels: Plaza serves only GET and POST at this address.",
    ],
    [asked("GET", "/v26.0/29999/custom_labels", { token: "page" }), "This world has no node 29999: check the id, or create the node."],
    [
      asked("GET", "/v26.0/29999/custom_label", { token: "page" }),
      "This world has no node 29999, and no node has the edge custom_label; did you mean custom_labels?",
    ],
    [asked("GET", "/v26.0/5001/nothing_like_it", { bearer: "page" }), "Label 5001 has no edge nothing_like_it: its edges are label."],
  ],
  unknownObject404: [[asked("GET", "/v25.0/29999", { bearer: "page" }), "This world has no node 29999: check the id, or create the node."]],
  invalidParameter: [
    [asked("GET", labels, { token: "page", query: { limit: "none" } }), "The parameter limit must be a positive integer: send another value."],
    [
      asked("GET", labels, { token: "page", query: { fields: "nam" } }),
      "The parameter fields names a field that does not exist: nam; did you mean name?",
    ],
  ],
  unknownUser: [
    [
      asked("POST", "/v26.0/5001/label", { token: "page", body: { user: "1" } }),
      "No matching user found: send the page-scoped id of one of the page's people.",
    ],
  ],
  unknownPath: [
    [
      asked("GET", "/v26.0/custom_labels", { token: "page" }),
      "The path has no id before custom_labels: write the id of a node before it, as in /{id}/custom_labels.",
    ],
    [asked("GET", "/v26.0/debug_tokem", { token: "page" }), "Plaza has no address /v26.0/debug_tokem; did you mean debug_token?"],
    [
      asked("GET", "/v26.0/a/b/c/d/e", { token: "page" }),
      "Unknown path components: /v26.0/a/b/c/d/e: check the path, which has the form /{version}/{id}/{edge}.",
    ],
  ],
  versionDeprecated: [[before(errors.versionDeprecated("v1.0 is deprecated")), "V1.0 is deprecated: send the request with a newer version."]],
  fieldUnavailable: [[before(errors.fieldUnavailable("about")), "Field about is not available for this object: leave the field out."]],
  handshakeFailed: [
    [
      before(errors.handshakeFailed("no answer")),
      "Callback verification failed: no answer: start the program at this address, and let it answer the challenge.",
    ],
  ],
  challengeMismatch: [
    [
      before(errors.challengeMismatch("1", "2")),
      "Callback verification failed: the response must be the challenge 1, and is 2: answer with the value of hub.challenge alone.",
    ],
  ],
  foreignPage: [
    [
      before(errors.foreignPage("The host a.b is not served")),
      "The host a.b is not served: send the request from a program, or from a page of this machine.",
    ],
  ],
  bodyTooLarge: [[before(errors.bodyTooLarge(9)), "The request body is larger than 9 bytes: send less in one request."]],
  headersTooLarge: [[before(errors.headersTooLarge(9)), "The address and headers are larger than 9 bytes: send long values in the body of a POST."]],
  requestTooSlow: [[before(errors.requestTooSlow(9)), "The request did not arrive within 9 ms: send the whole request at once."]],
  appRateLimited: [[before(errors.appRateLimited(1)), "Application request limit reached: send the request again after the seconds of Retry-After."]],
  edgeRateLimited: [
    [
      before(errors.edgeRateLimited(1)),
      "Requests to this object have exceeded the rate limit: send the request again after the seconds of Retry-After.",
    ],
  ],
  overloaded: [[before(errors.overloaded(1)), "The service is busy; please retry: send the request again after the seconds of Retry-After."]],
  databaseUnreachable: [[before(errors.databaseUnreachable()), "Service temporarily unavailable: send the request again in a second."]],
  internalError: [
    [before(errors.internalError()), "An unknown error occurred: this is a mistake of Plaza: its log has the details below the trace id."],
    [
      async (plaza) => {
        plaza.world.faults.add({ operation: "listLabels", status: 503, times: 1 });
        const { reason: text, ...rest } = await reason(plaza, "GET", labels, { token: "page" });
        return { ...rest, reason: text?.replaceAll(/ault [^ ]+ refused/g, "ault ID refused") };
      },
      "Fault ID refused this request on purpose: remove it with plaza fault clear, or in the console.",
    ],
  ],
};

onEachDatabase("the reason of a refused request", (database) => {
  test.each(Object.entries(cases))("%s: one sentence with the change that mends it", async (error, all) => {
    for (const [ask, sentence] of all) {
      const plaza = await openPlaza({ database, world: cafe });
      expect(await ask(plaza)).toEqual({ error, reason: sentence });
    }
  });

  test("every error of the catalogue has a case above", async () => {
    const { registry } = await openPlaza({ database });
    expect(new Set(Object.keys(cases))).toEqual(new Set(registry.errors.keys()));
  });

  test("D-376: a batch with refused parts says how many, and the reason of the first", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const tokens = { query: { access_token: "page", oauth_token: "page" }, headers: { authorization: "Bearer page" } };
    const batch = ["v26.0/2001/custom_label", labels.slice(1), "v26.0/999"].map((relative_url) => ({ relative_url }));
    const { reason: sentence } = await reason(plaza, "POST", "/", { ...tokens, body: { batch } });
    expect(sentence).toBe(
      "2 of 3 requests inside this request were refused, first GET /v26.0/2001/custom_label: Page 2001 has no edge custom_label; did you mean custom_labels?",
    );
    expect(await reason(plaza, "POST", "/", { ...tokens, body: { batch: batch.slice(1, 2) } })).toEqual({ error: undefined, reason: undefined });
    expect((await reason(plaza, "GET", "/", { ...tokens, query: { ...tokens.query, ids: "5001,999" } })).reason).toBe(
      "1 of 2 requests inside this request was refused, first GET /999: This world has no node 999: check the id, or create the node.",
    );
  });

  test("a served request needs no reason", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    expect(await reason(plaza, "GET", labels, { token: "page" })).toEqual({ error: undefined, reason: undefined });
  });

  test("D-400: a write that causes no webhook says what the app lacks, one thing after the other", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    let count = 0;
    const write = async () => (await reason(plaza, "POST", labels, { token: "page", body: { page_label_name: `l${count++}` } })).reason;
    expect(await write()).toBe(
      "No webhook: app 1001 is not subscribed to custom_labels of page: send POST /1001/subscriptions with object=page, fields=custom_labels, callback_url and verify_token.",
    );
    await changeEntry(plaza, "apps", "1001", { callback: { url: "http://127.0.0.1:9/" } });
    expect(await write()).toBe(
      "No webhook: app 1001 is not subscribed to custom_labels of page: send POST /1001/subscriptions with object=page and fields=custom_labels.",
    );
    await changeEntry(plaza, "apps", "1001", { callback: null });
    await changeEntry(plaza, "apps", "1001", { subscriptions: [{ object: "page", fields: ["custom_labels"] }] });
    const mend = "send POST /2001/subscribed_apps with subscribed_fields=custom_labels";
    expect(await write()).toBe(`No webhook: app 1001 is not installed on page 2001: ${mend}.`);
    await changeEntry(plaza, "pages", "2001", { subscribed_apps: [{ app: "1001", subscribed_fields: ["live_videos"] }] });
    expect(await write()).toBe(`No webhook: page 2001 does not send custom_labels to app 1001: ${mend} and the fields that the app already gets.`);
    await changeEntry(plaza, "pages", "2001", { subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] });
    expect(await write()).toBe(
      "The webhook waits, because app 1001 has no callback: set one with POST /1001/subscriptions (object, fields, callback_url and verify_token), or start Plaza with --callback.",
    );
    await changeEntry(plaza, "apps", "1001", { callback: { url: "http://127.0.0.1:9/" } });
    const callbackOf = await write();
    expect(callbackOf).toBeUndefined();
  });
});
