import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, requestOfLink, type TestRequest } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const labels = "/v26.0/2001/custom_labels";
const all = (token: string) => ({ query: { access_token: token, oauth_token: token }, headers: { authorization: `Bearer ${token}` } });

onEachDatabase("the pipeline", (database) => {
  const open = (options = {}) => openPlaza({ database, world: cafe, ...options });

  test("AUTH-1: page messaging needs all three credentials, and the error names a missing one", async () => {
    const plaza = await open();
    const three = all("page");
    const without = {
      access_token: { ...three, query: { oauth_token: "page" } },
      oauth_token: { ...three, query: { access_token: "page" } },
      Authorization: { query: three.query },
    };
    for (const [place, request] of Object.entries(without)) {
      expect(await plaza.get(labels, request)).toMatchObject({ status: 403, body: { code: 190, error_data: { parameter: place } } });
    }
    expect((await plaza.get(labels, three)).status).toBe(200);
    const clients = await open({ profile: "clients" });
    for (const request of [
      { query: { access_token: "page" } },
      { query: { oauth_token: "page" } },
      { bearer: "page" },
      { body: { access_token: "page" } },
    ]) {
      expect((await clients.get(labels, request)).status).toBe(200);
    }
  });

  test("each part of a request that may hold the event loop begins under the operation's name", async () => {
    const begun: string[] = [];
    const plaza = await open({ workBegins: (work: string, id?: string) => begun.push(id === undefined ? work : `${work} of ${id}`) });
    await plaza.post(labels, { ...all("page"), body: { page_label_name: "held" } });
    // A write has three steps that may hold the event loop: its parameters, its transaction and its response.
    expect(begun.splice(0)).toEqual(["createLabel", "createLabel", "createLabel"]);
  });

  test("D-14: dead, foreign and insufficient tokens are refused by their codes", async () => {
    const plaza = await open();
    const revoked = await plaza.mint({
      type: "page",
      app: "1001" as never,
      page: "2001" as never,
      scopes: ["pages_messaging"],
      revoked_at: 9,
    });
    const expected: { token: string; status: number; code?: number; subcode?: number }[] = [
      { token: "unknown", status: 403, code: 190 },
      { token: "expired", status: 403, code: 190, subcode: 463 },
      { token: revoked, status: 403, code: 190, subcode: 466 },
      { token: "no-scope", status: 403, code: 10 },
      { token: "bob", status: 403, code: 200 },
      { token: "ada", status: 200 },
      { token: "other-app", status: 200 },
      { token: "bar", status: 400, code: 100, subcode: 33 },
      { token: "cleo", status: 400, code: 100, subcode: 33 },
    ];
    for (const { token, ...outcome } of expected) {
      const { status, body } = await plaza.get(labels, { token });
      expect({ token, status, code: body.code, subcode: body.error_subcode }).toEqual({ token, code: undefined, subcode: undefined, ...outcome });
    }
    const mixed = await plaza.get(labels, { query: { access_token: "page", oauth_token: "page" }, bearer: "other-app" });
    expect(mixed).toMatchObject({ status: 403, body: { error_subcode: 458 } });
    const otherPage = await plaza.get(labels, { query: { access_token: "page", oauth_token: "page" }, bearer: "bar" });
    expect(otherPage).toMatchObject({ status: 403, body: { code: 190, error_data: { parameter: "Authorization" } } });
  });

  test("D-15: a wrong appsecret_proof is refused, a right one serves", async () => {
    const plaza = await open();
    const proof = createHmac("sha256", "s3cret").update("page").digest("hex");
    const request = (appsecret_proof: string) => ({ ...all("page"), query: { ...all("page").query, appsecret_proof } });
    expect((await plaza.get(labels, request(proof))).status).toBe(200);
    const wrong = proof.replace(/^./, (c) => (c === "0" ? "1" : "0"));
    expect((await plaza.get(labels, request(wrong))).body.error_data.parameter).toBe("appsecret_proof");
    // D-41: the parameter in the body has precedence over the query.
    expect((await plaza.post(labels, { ...request(wrong), body: { page_label_name: "proven", appsecret_proof: proof } })).status).toBe(200);
    const demanding = await open({ world: { ...cafe, apps: cafe.apps.map((app) => ({ ...app, require_appsecret_proof: true })) } });
    expect((await demanding.get(labels, all("page"))).body.error_data.parameter).toBe("appsecret_proof");
  });

  test("D-20: the error form of an unknown address follows the shape of the request", async () => {
    const plaza = await open();
    const flat = await plaza.get("/v26.0/777/custom_labels", { token: "page" });
    expect(flat).toMatchObject({ status: 400, body: { code: 100, error_subcode: 33 } });
    expect((await plaza.get("/v26.0/777", { token: "page" })).body.code).toBe(100);
    const intent = await plaza.get("/v24.0/777", { bearer: "page" });
    expect(intent).toMatchObject({ status: 404, body: { error: { code: 803 } } });
    const wrapped = await plaza.get("/v26.0/777", { bearer: "page" });
    expect(wrapped).toMatchObject({ status: 400, body: { error: { error_subcode: 33 } } });
    const anonymous = await plaza.get("/v26.0/777");
    expect(anonymous).toMatchObject({ status: 401, headers: { "www-authenticate": expect.any(String) }, body: { error: { code: 104 } } });
    const anonymousEdge = await plaza.get("/v26.0/777/custom_labels");
    const anonymousPage = await plaza.get(labels);
    expect(anonymousEdge.status).toBe(403);
    expect({ ...anonymousEdge.body, pftrace_id: "" }).toEqual({ ...anonymousPage.body, pftrace_id: "" });
  });

  test("D-20, D-83: an unknown path has the error form of its edge, or that of `oauth_token`, and the version of its address", async () => {
    const plaza = await open();
    const shown = async (method: string, path: string, options: TestRequest) => {
      const { status, body, headers } = await plaza.request(method, path, options);
      return { status, form: body.error === undefined ? "flat" : "wrapped", code: (body.error ?? body).code, version: headers["pf-api-version"] };
    };
    const unknown = { status: 400, code: 2500 };
    const withOauth = { bearer: "page", query: { oauth_token: "page" } };
    for (const options of [{ bearer: "page" }, withOauth, {}]) {
      expect(await shown("POST", "/v99.0/2001/custom_labels", options)).toEqual({ ...unknown, form: "flat", version: "v26.0" });
      expect(await shown("GET", "/v24.0/abc/custom_labels", options)).toEqual({ ...unknown, form: "flat", version: "v24.0" });
      expect(await shown("GET", "/v24.0/2001/custom_labels/xx", options)).toEqual({ ...unknown, form: "flat", version: "v24.0" });
      expect(await shown("GET", "/v99.0/1001/subscriptions", options)).toEqual({ ...unknown, form: "wrapped", version: "v26.0" });
      const form = options === withOauth ? "flat" : "wrapped";
      for (const path of ["/v24.0/abc", "/v24.0/abc/nothing"])
        expect(await shown("GET", path, options)).toEqual({ ...unknown, form, version: "v24.0" });
      expect(await shown("GET", "/v99.0/2001/nothing", options)).toEqual({ ...unknown, form, version: "v26.0" });
    }
  });

  test("D-14, D-22: even with rate limits a hidden node cannot be told from a missing one", async () => {
    const plaza = await open({ rateLimits: { app_calls_per_hour: 100, page_calls_per_hour: 100 } });
    for (const edge of ["", "/custom_labels"]) {
      const [hidden, missing] = [await plaza.get(`/v26.0/2001${edge}`, { token: "bar" }), await plaza.get(`/v26.0/2777${edge}`, { token: "bar" })];
      expect(hidden.status).toBe(400);
      const traceless = ({ status, headers, body }: typeof hidden) =>
        JSON.stringify({ status, headers: { ...headers, "x-pf-trace-id": "" }, body: { ...body, pftrace_id: "" } }).replaceAll("2777", "2001");
      expect(traceless(hidden)).toBe(traceless(missing));
      // The page's usage of its quota is not shown, either.
      await plaza.get(labels, { token: "page" });
    }
    expect((await plaza.get(labels, { token: "page" })).headers).toMatchObject({
      "x-app-usage": '{"call_count":3,"total_cputime":0,"total_time":0}',
      "x-business-use-case-usage": '{"2001":[{"type":"pages","call_count":3,"total_cputime":0,"total_time":0,"estimated_time_to_regain_access":0}]}',
    });
  });

  test("D-14: a token of a removed app is refused for any address", async () => {
    const plaza = await open();
    const token = await plaza.mint({ type: "page", app: "1999" as never, page: "2001" as never, scopes: ["pages_messaging"] });
    for (const path of [labels, "/v26.0/2777/custom_labels"]) {
      expect(await plaza.get(path, { token })).toMatchObject({ status: 403, body: { code: 190, error_data: { parameter: "Authorization" } } });
    }
  });

  test("D-03, D-83: versions 20 to 26 serve, others are unknown, and without a version the app's default serves", async () => {
    const plaza = await open();
    for (let version = 20; version <= 26; version++) {
      for (const segment of [`v${version}`, `v${version}.0`]) {
        const response = await plaza.get(`/${segment}/2001/custom_labels`, { token: "page" });
        expect(response).toMatchObject({ status: 200, headers: { "pf-api-version": `v${version}.0` } });
      }
    }
    const unknown = (segment: string) => `Unknown path components: /${segment}; the versions are v20.0, v21.0, v22.0, v23.0, v24.0, v25.0, v26.0`;
    for (const segment of ["v19.0", "v27.0", "v99.0"]) {
      const response = await plaza.get(`/${segment}/2001/custom_labels`, { token: "page" });
      expect(response).toMatchObject({ status: 400, body: { code: 2500, message: unknown(segment) } });
    }
    // The response to a refused request has the version that the request asked for.
    for (const path of ["/v21.0/999", "/v21.0/2001/nothing"])
      expect((await plaza.get(path, { token: "page" })).headers["pf-api-version"]).toBe("v21.0");
    expect((await plaza.get("/v21.0/2001/custom_labels")).headers["pf-api-version"]).toBe("v21.0");
    expect((await plaza.get("/2001/custom_labels", { token: "page" })).headers["pf-api-version"]).toBe("v25.0");
    expect((await plaza.get("/2001/custom_labels", { token: "other-app" })).headers["pf-api-version"]).toBe("v21.0");
  });

  test("D-03: in the profile clients an older version counts as the oldest one, and a later version stays unknown", async () => {
    const plaza = await open({ profile: "clients" });
    for (const segment of ["v2.12", "v3", "v19.0", "v19.999"]) {
      const response = await plaza.get(`/${segment}/2001/custom_labels`, { token: "page" });
      expect(response).toMatchObject({ status: 200, headers: { "pf-api-version": "v20.0" } });
    }
    for (const segment of ["v0.9", "v20.1", "v27.0"])
      expect(await plaza.get(`/${segment}/2001/custom_labels`, { token: "page" })).toMatchObject({ status: 400, body: { error: { code: 2500 } } });
  });

  test("D-02: an invalid path is unknown, repeated slashes count as one, and me is the token's own node", async () => {
    const plaza = await open();
    for (const path of [
      "/v26.0/abc",
      "/v26.0/02001/custom_labels",
      "/v26.0/-1",
      "/v26.0/9223372036854775808",
      "/v26.0/2001/custom_labels/5001",
      "/%ZZ",
    ]) {
      const { body } = await plaza.get(path, { bearer: "page" });
      expect((body.error ?? body).code).toBe(2500);
    }
    expect((await plaza.get("//v26.0///2001//custom_labels/", { token: "page" })).status).toBe(200);
    expect((await plaza.get("/v26.0/me/custom_labels", { token: "page" })).body.data).toEqual([{ id: "5001", name: "vip" }]);
  });

  test("D-04: unsupported methods and edges get the response of a missing object; method= overrides a POST", async () => {
    const plaza = await open();
    for (const [method, path] of [
      ["PUT", "/v26.0/5001"],
      ["POST", "/v26.0/5001"],
      ["DELETE", labels],
      ["GET", "/v26.0/2001/nothing"],
      ["GET", "/v26.0/9001"],
    ] as const) {
      const response = await plaza.request(method, path, { token: "page" });
      expect(response).toMatchObject({ status: 400, body: { code: 100, error_subcode: 33 } });
      expect(response.body.message).toStartWith(`Unsupported ${method.toLowerCase()} request.`);
    }
    const literal = await plaza.post("/debug_token", { surface: "microblog", query: { access_token: "page" } });
    expect(literal).toMatchObject({ status: 400, body: { error: { code: 100, error_subcode: 33 } } });
    expect((await plaza.post("/debug_token", { surface: "microblog" })).status).toBe(401);
    expect((await plaza.post("/debug_token", { bearer: "page" })).body.error.code).toBe(2500);
    expect((await plaza.post(labels, { token: "page", query: { method: "get", access_token: "page", oauth_token: "page" } })).body.data).toHaveLength(
      1,
    );
    expect((await plaza.post("/v26.0/5001", { token: "page", body: { method: "DELETE" } })).body).toEqual({ success: true });
  });

  test("D-83, D-90: a request that is refused early names the requested version, and its form's headers", async () => {
    const plaza = await open();
    // This request is refused because of its method, before its tokens are looked at.
    const method = await plaza.post("/v22.0/2001/custom_labels", { body: { method: "put" } });
    expect(method).toMatchObject({ status: 400, body: { code: 100, error_data: { parameter: "method" } }, headers: { "pf-api-version": "v22.0" } });
    // This request is refused because of its tokens, before its node is looked at.
    const activities = await plaza.post("/v22.0/1001/activities", { bearer: "unknown" });
    expect(activities).toMatchObject({ status: 401, headers: { "pf-api-version": "v22.0", deprecation: expect.any(String) } });
    // This request is refused because of its node, after its app has used some of its hourly requests.
    const limited = await open({ rateLimits: { app_calls_per_hour: 10, page_calls_per_hour: 0 } });
    await limited.get(labels, all("page"));
    const { status, headers } = await limited.get("/v22.0/777", { bearer: "page" });
    expect({ status, usage: headers["x-app-usage"] }).toEqual({ status: 400, usage: expect.stringContaining(":10,") });
  });

  test("D-30, D-31: limits and cursors are checked", async () => {
    const plaza = await open();
    const with_ = (query: Record<string, unknown>) => plaza.get(labels, { ...all("page"), query: { ...all("page").query, ...query } });
    for (const limit of ["0", "-1", "abc", "1.5", ""]) expect((await with_({ limit })).body.error_data.parameter).toBe("limit");
    for (const after of ["x", "", "!!!", "AAAAAAAAAAAAAAAA"]) expect((await with_({ after })).body.error_data.parameter).toBe("after");
    const { after } = (await with_({})).body.paging.cursors;
    const beyond = (await with_({ after })).body;
    expect(beyond).toEqual({ data: [], paging: { cursors: {}, previous: expect.any(String) } });
    const back = requestOfLink(beyond.paging.previous);
    expect((await plaza.get(back.path, { ...all("page"), query: back.query })).body.data).toEqual([{ id: "5001", name: "vip" }]);
    expect((await with_({ after, before: after })).body.code).toBe(100);
    const foreign = await plaza.get("/v26.0/2001/personas", { ...all("page"), query: { ...all("page").query, after } });
    expect(foreign.body.error_data.parameter).toBe("after");
    const damaged = `${after.slice(0, -1)}${after.endsWith("A") ? "B" : "A"}`;
    expect((await with_({ after: damaged })).status).toBe(400);
  });

  test("LIST, D-32: previous and next lead back and forth and repeat every parameter", async () => {
    const plaza = await open();
    for (let i = 0; i < 4; i++) await plaza.post(labels, { token: "page", body: { page_label_name: `n${i}` } });
    const query = { ...all("page").query, limit: "2", fields: "name", extra: "ü&=" };
    const first = await plaza.get(labels, { ...all("page"), query });
    expect(first.body.paging.previous).toBeUndefined();
    const link = requestOfLink(first.body.paging.next);
    expect(link.query).toMatchObject({ limit: "2", fields: "name", extra: "ü&=", access_token: "page" });
    const second = await plaza.get(link.path, { ...all("page"), query: link.query });
    const third = await plaza.get(labels, { ...all("page"), query: requestOfLink(second.body.paging.next).query });
    expect(third.body.data).toHaveLength(1);
    expect(third.body.paging.next).toBeUndefined();
    const back = await plaza.get(labels, { ...all("page"), query: requestOfLink(third.body.paging.previous).query });
    expect(back.body.data).toEqual(second.body.data);
    const front = await plaza.get(labels, { ...all("page"), query: requestOfLink(back.body.paging.previous).query });
    expect(front.body.data).toEqual(first.body.data);
    expect(front.body.paging.previous).toBeUndefined();
    const bearerOnly = await (await open({ profile: "clients" })).get(labels, { bearer: "page", query: { limit: "1" } });
    expect(JSON.stringify(bearerOnly.body.paging)).not.toContain("token");
  });

  test("D-32, D-41: a limit of the body stays in the links, and a batch's links have the parameters of its requests", async () => {
    const plaza = await open();
    for (let i = 0; i < 4; i++) await plaza.post(labels, { token: "page", body: { page_label_name: `n${i}` } });
    const first = await plaza.get(labels, { ...all("page"), body: { limit: "2", fields: "name" } });
    expect(requestOfLink(first.body.paging.next).query).toMatchObject({ limit: "2", fields: "name", access_token: "page" });
    const batch = JSON.stringify([{ method: "GET", relative_url: `${labels.slice(1)}?fields=name`, body: "limit=2" }]);
    const [part] = (await plaza.post("/v26.0", { ...all("page"), body: { batch } })).body;
    expect(requestOfLink(JSON.parse(part.body).paging.next)).toEqual(requestOfLink(first.body.paging.next));
  });

  test("D-33: selections nest, id is always returned, and an unknown field is refused", async () => {
    const plaza = await open();
    const fields = (text: string) => plaza.get(labels, { ...all("page"), query: { ...all("page").query, fields: text } });
    expect((await fields("name")).body.data).toEqual([{ name: "vip", id: "5001" }]);
    expect((await fields("page{name}")).body.data).toEqual([{ page: { name: "Cafe", id: "2001" }, id: "5001" }]);
    for (const text of [
      "nothing",
      "name{x}",
      "name.limit(1)",
      "page.limit(2){id}",
      "page{id",
      "a,,b",
      "name,",
      "{id}",
      "page{nothing}",
      "__proto__",
      "💥",
    ]) {
      const { status, body } = await fields(text);
      const { code, error_data } = body;
      expect({ text, status, code, parameter: error_data.parameter }).toEqual({ text, status: 400, code: 100, parameter: "fields" });
    }
  });
});
