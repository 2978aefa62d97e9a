import { describe, expect, test } from "bun:test";
import { type ClientOptions, ConnectionError, createClient, GraphError, request } from "#client/index";
import { afterThisTest } from "#harness/cleanup";

interface Scripted {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** This entry stands for a connection that ends without a response. */
  readonly isLost?: true;
}

interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly authorization: string | null;
  readonly body: unknown;
}

/** A client of a server that returns the given responses in order, with a record of the requests and of the waits. */
function scripted(responses: readonly Scripted[], options: Partial<ClientOptions> = {}) {
  const seen: Seen[] = [];
  const waits: number[] = [];
  const fetchOne = async (url: string, init: RequestInit): Promise<Response> => {
    const next = responses[Math.min(seen.length, responses.length - 1)] as Scripted;
    const body = typeof init.body === "string" ? JSON.parse(init.body) : init.body;
    seen.push({ method: init.method ?? "GET", url: new URL(url), authorization: new Headers(init.headers).get("authorization"), body });
    if (next.isLost === true) throw new TypeError("socket hang up");
    return Response.json(next.body ?? {}, { status: next.status ?? 200, headers: { ...next.headers } });
  };
  const wait = async (ms: number): Promise<void> => void waits.push(ms);
  return { graph: createClient({ baseUrl: "http://graph.test/", accessToken: "t", fetch: fetchOne, wait, ...options }), seen, waits };
}

const transient = { status: 503, body: { error: { message: "later", code: 2, is_transient: true } } };
const ok = { body: { success: true } };
const page = (ids: readonly string[], next?: string) => ({
  body: { data: ids.map((id) => ({ id })), paging: { cursors: { after: "x" }, ...(next === undefined ? {} : { next }) } },
});

describe("requests", () => {
  test("a token is in the place that the operation needs, parameters in the place of the method", async () => {
    const { graph, seen } = scripted([ok]);
    await graph.detachLabel("5001", { user: "9001" });
    await graph.attachLabel("5001", { user: "9001" });
    await graph.inspectToken({ input_token: "other" });
    await graph.readMigrationIntent("4301");
    expect(seen.map(({ url }) => `${url.pathname}${url.search}`)).toEqual([
      "/v26.0/5001/label?user=9001&access_token=t&oauth_token=t",
      "/v26.0/5001/label?access_token=t&oauth_token=t",
      "/microblog/v1.0/debug_token?input_token=other&access_token=t",
      "/v25.0/4301",
    ]);
    expect(seen.map(({ method, authorization, body }) => [method, authorization, body])).toEqual([
      ["DELETE", "Bearer t", undefined],
      ["POST", "Bearer t", { user: "9001" }],
      ["GET", null, undefined],
      ["GET", "Bearer t", undefined],
    ]);
  });

  test("options of the client and of a request: version, token, address of a surface", async () => {
    const { graph, seen } = scripted([ok], { versions: { platform: "v22.0" }, addresses: { app: "http://apps.test" } });
    await graph.readLabel("5001");
    await graph.readLabel("5001", {}, { version: "v24.0", accessToken: "mine" });
    await graph.listRequiredActions("1001");
    expect(seen.map(({ url, authorization }) => `${url.host}${url.pathname} ${authorization}`)).toEqual([
      "graph.test/v22.0/5001 Bearer t",
      "graph.test/v24.0/5001 Bearer mine",
      "apps.test/1001/required_actions Bearer t",
    ]);
  });

  test("a file is sent as multipart", async () => {
    const { graph, seen } = scripted([ok]);
    const events = new Blob(["[]"]);
    await graph.reportAppEvents(
      "1001",
      { event: "CUSTOM_APP_EVENTS", custom_events_file: events },
      { headers: { "X-Forwarded-For": "203.0.113.9" } },
    );
    const [{ body } = { body: undefined }] = seen;
    expect(body).toBeInstanceOf(FormData);
    expect((body as FormData).get("event")).toBe("CUSTOM_APP_EVENTS");
  });
});

describe("retries", () => {
  test("a transient error is retried, each time after a longer wait, even for a write", async () => {
    const { graph, seen, waits } = scripted([transient, transient, ok]);
    await graph.deleteLabel("5001");
    await expect(scripted([transient, transient, ok]).graph.attachLabel("1", { user: "2" })).resolves.toEqual({ success: true });
    expect(seen).toHaveLength(3);
    const [first = 0, second = 0] = waits;
    expect(first).toBeWithin(250, 500.1);
    expect(second).toBeWithin(500, 1000.1);
  });

  test("Retry-After is waited for, in seconds or as a date; one that is too long is not", async () => {
    const after = (value: string) => ({
      status: 429,
      headers: { "retry-after": value },
      body: { message: "slow down", code: 613, is_transient: true },
    });
    const seconds = scripted([after("7"), ok]);
    await seconds.graph.deleteLabel("5001");
    expect(seconds.waits).toEqual([7000]);
    const date = scripted([after(new Date(Date.now() + 30_000).toUTCString()), ok]);
    await date.graph.deleteLabel("5001");
    expect(date.waits[0]).toBeWithin(20_000, 30_001);
    const long = scripted([after("61"), ok]);
    await expect(long.graph.deleteLabel("5001")).rejects.toMatchObject({ kind: "rate_limit", retryAfterMs: 61_000 });
    expect(long.waits).toEqual([]);
  });

  test("they end: the last error is thrown", async () => {
    const { graph, seen } = scripted([transient], { retries: 2 });
    await expect(graph.deleteLabel("5001")).rejects.toMatchObject({ name: "GraphError", kind: "temporary", code: 2 });
    expect(seen).toHaveLength(3);
  });

  test("without a response only a read is repeated", async () => {
    const read = scripted([{ isLost: true }, ok]);
    await read.graph.readLabel("5001");
    expect(read.seen).toHaveLength(2);
    const write = scripted([{ isLost: true }, ok]);
    await expect(write.graph.deleteLabel("5001")).rejects.toBeInstanceOf(ConnectionError);
    expect(write.seen).toHaveLength(1);
  });

  test("a permanent error is not repeated", async () => {
    const { graph, seen } = scripted([{ status: 400, body: { error: { message: "no", code: 100 } } }]);
    await expect(graph.readUser("1")).rejects.toMatchObject({ kind: "parameter" });
    expect(seen).toHaveLength(1);
  });

  test("a signal ends a request, its waits and its pages", async () => {
    const ending = new AbortController();
    const { graph } = scripted([transient], { wait: async () => ending.abort(new Error("enough")) });
    await expect(graph.readLabel("5001", {}, { signal: ending.signal })).rejects.toThrow("enough");
    const waiting = new AbortController();
    const server = Bun.serve({ port: 0, fetch: () => Response.json(transient.body, { status: 503, headers: { "retry-after": "30" } }) });
    afterThisTest(() => server.stop(true));
    const real = createClient({ baseUrl: server.url.href }).readLabel("5001", {}, { signal: waiting.signal });
    setTimeout(() => waiting.abort(new Error("enough")), 50);
    await expect(real).rejects.toThrow("enough");
  });

  test("an attempt ends, even if the server sends nothing", async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
    afterThisTest(() => server.stop(true));
    const graph = createClient({ baseUrl: server.url.href, timeoutMs: 50, retries: 0 });
    await expect(graph.readLabel("5001")).rejects.toThrow("readLabel: no response: timed out");
  });
});

describe("lists", () => {
  const all = async (list: AsyncIterable<{ readonly id: string }>): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { id } of list) ids.push(id);
    return ids;
  };

  test("end without `next`, not at a short or empty page", async () => {
    const next = "https://elsewhere.test/v26.0/2001/custom_labels?after=b&limit=2&access_token=t";
    const { graph, seen } = scripted([page(["1", "2"], next.replace("=b", "=a")), page([], next), page(["3"])]);
    expect(await all(graph.listLabels("2001", { limit: 2 }))).toEqual(["1", "2", "3"]);
    // The client follows a link on its own server and with its own token, whatever host and token the link has.
    expect(seen.map(({ url }) => [url.host, url.searchParams.get("after"), url.searchParams.getAll("access_token")])).toEqual([
      ["graph.test", null, ["t"]],
      ["graph.test", "a", ["t"]],
      ["graph.test", "b", ["t"]],
    ]);
  });

  test("with only cursors end at a page without items", async () => {
    const { graph, seen } = scripted([page(["1"]), page(["2"]), { body: { data: [], paging: { cursors: {} } } }]);
    const tags = scripted([page(["1"]), { body: { data: [] } }]);
    expect(await all(tags.graph.listTags("6001"))).toEqual(["1"]);
    expect(await all(graph.listLabels("2001"))).toEqual(["1"]);
    expect(seen).toHaveLength(1);
  });

  test("that lead in a circle are an error", async () => {
    const { graph } = scripted([page(["1"], "http://graph.test/x?after=a")]);
    await expect(all(graph.listLabels("2001"))).rejects.toThrow("leads to the same page");
  });

  test("are requested only when needed, and stop when the reader does", async () => {
    const { graph, seen } = scripted([page(["1", "2"], "http://graph.test/x?after=a")]);
    const list = graph.listLabels("2001");
    expect(seen).toHaveLength(0);
    for await (const { id } of list) if (id === "1") break;
    expect((await list).data).toHaveLength(2);
    expect(seen).toHaveLength(2);
  });
});

describe("errors", () => {
  const body = {
    message: "m",
    type: "OAuthException",
    code: 190,
    error_subcode: 463,
    is_transient: false,
    pftrace_id: "T",
    error_data: { parameter: "p" },
  };

  test("have the same fields in both forms", async () => {
    for (const form of [body, { error: body }, { ...body, error: body }]) {
      const failed = await scripted([{ status: 403, body: form }])
        .graph.readLabel("5001")
        .catch((error: unknown) => error);
      expect(failed).toMatchObject({
        status: 403,
        code: 190,
        subcode: 463,
        traceId: "T",
        data: { parameter: "p" },
        kind: "token",
        operation: "readLabel",
      });
    }
  });

  test("of a proxy are errors too", async () => {
    const { graph } = scripted([{ status: 413, body: "too large" }]);
    await expect(graph.readLabel("5001")).rejects.toMatchObject({ status: 413, code: 0, kind: "parameter" });
  });

  test.each([
    [{ status: 400, code: 100, error_subcode: 33 }, "not_found"],
    [{ status: 404, code: 803 }, "not_found"],
    [{ status: 403, code: 200 }, "permission"],
    [{ status: 400, code: 2635 }, "version"],
    [{ status: 400, code: 2500, message: "(#2500) Unknown path components: /v19.0" }, "version"],
    [{ status: 400, code: 2500, message: "(#2500) Unknown path components: /v26.0/cafe" }, "parameter"],
    [{ status: 500, code: 1 }, "server"],
    [{ status: 429, code: 4, is_transient: true }, "rate_limit"],
  ])("%p is of the kind %s", ({ status, ...one }, kind) =>
    expect(new GraphError("x", status, { error: { message: "", ...one } }).kind).toBe(kind as "token"),
  );
});

test("a batch has a result for each request, and one surface", async () => {
  const response = [{ code: 200, body: '{"id":"7","name":"a"}' }, null, { code: 400, body: '{"error":{"message":"no","code":100}}' }];
  const { graph, seen } = scripted([{ body: response }]);
  const outcomes = await graph.batch([
    { ...request("createLabel", "2001", { page_label_name: "a" }), name: "made" },
    { ...request("readLabel", "{result=made:$.id}", { fields: "id" }), dependsOn: ["made"] },
    request("readUser", "me"),
  ]);
  expect(outcomes).toMatchObject([{ value: { id: "7" } }, null, { error: { kind: "parameter", operation: "readUser" } }]);
  expect(seen[0]?.url.href).toBe("http://graph.test/v26.0/?access_token=t&oauth_token=t");
  expect(seen[0]?.body).toMatchObject({
    batch: [
      { method: "POST", relative_url: "v26.0/2001/custom_labels", body: { page_label_name: "a" }, name: "made" },
      { method: "GET", relative_url: "v26.0/{result=made:$.id}?fields=id", depends_on: ["made"] },
      { method: "GET", relative_url: "v26.0/me" },
    ],
  });
  await expect(graph.batch([request("readUser", "me"), request("listRequiredActions", "1001")])).rejects.toThrow(
    "a batch sends its requests to one surface; these need base and app",
  );
  // The client refuses a batch with a request that it cannot send, and does not leave out the request silently.
  await expect(graph.batch([request("readUser", "me", {}, { accessToken: "another" })])).rejects.toThrow(
    "all requests of a batch use the token of the batch's options; readUser has another token",
  );
  await expect(graph.batch([request("createUpload", "8101", { file: new Blob(["id"]) })])).rejects.toThrow(
    "a batch cannot send files: send createUpload by itself",
  );
  expect(seen).toHaveLength(1);
});

test("a host that serves the operation can be named for a request, a client or a batch; another one is refused before anything is sent", async () => {
  const { graph, seen } = scripted([{ body: [{ code: 200, body: '{"id":"m1"}' }] }]);
  const message = { message: { text: "hello, me" } };
  await graph.sendSelfMessage("6901", message);
  await graph.sendSelfMessage("6901", message, { surface: "social_login" });
  await graph.batch([request("sendSelfMessage", "6901", message)], { surface: "social_login" });
  await graph.batch([request("sendSelfMessage", "6901", message, { surface: "social_login" })]);
  expect(seen.map(({ url }) => url.pathname)).toEqual([
    ...["/v26.0/6901/messages", "/social-login/v26.0/6901/messages", "/social-login/v26.0/", "/social-login/v26.0/"],
  ]);
  const ofLogin = scripted([ok], { surface: "social_login" });
  await ofLogin.graph.readSocialAccount("6001");
  await ofLogin.graph.readUser("3001");
  await ofLogin.graph.sendSelfMessage("6901", message, { surface: "base" });
  expect(ofLogin.seen.map(({ url }) => url.pathname)).toEqual(["/social-login/v26.0/6001", "/v26.0/3001", "/v26.0/6901/messages"]);
  // @ts-expect-error: the types know where an operation is served.
  expect(() => graph.readUser("3001", {}, { surface: "ads" })).toThrow(new TypeError("readUser is served on base, but not on ads"));
  expect(seen).toHaveLength(4);
});
