/** D-34: the requests of a batch, and the parameters that these requests take over from the batch. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { fullWorld } from "#harness/full-world";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const three = { query: { access_token: "page", oauth_token: "page" }, headers: { authorization: "Bearer page" } };
const node = "v26.0/5001";
const labels = "v26.0/2001/custom_labels";

onEachDatabase("the requests of a batch", (database) => {
  const open = async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const send = async (batch: unknown, more: Record<string, unknown> = {}) => (await plaza.post("/", { ...three, body: { batch, ...more } })).body;
    return { plaza, send };
  };
  const bodiesOf = (responses: { body: string }[]) => responses.map(({ body }) => JSON.parse(body));

  test("an error names the place and key of the wrong request", async () => {
    const { send } = await open();
    const good = { relative_url: node };
    const wrong: [key: string, request: unknown][] = [
      ...["text", null, [], 7].map((request): [string, unknown] => ["", request]),
      ...[{}, { relative_url: 5 }, { relative_url: null }].map((request): [string, unknown] => [".relative_url", request]),
      ...[5, null, {}].map((method): [string, unknown] => [".method", { ...good, method }]),
      ...[5, null, true].map((body): [string, unknown] => [".body", { ...good, body }]),
      ...[5, null, ""].map((name): [string, unknown] => [".name", { ...good, name }]),
      ...[5, null, [5], ["a", 5]].map((depends_on): [string, unknown] => [".depends_on", { ...good, depends_on }]),
    ];
    for (const [key, request] of wrong) {
      const { error_data } = await send([{ ...good, name: "a" }, request]);
      expect({ request, parameter: error_data?.parameter }).toEqual({ request, parameter: `batch[1]${key}` });
    }
    for (const batch of ["7", "{}", "[]", {}, 7]) expect((await send(batch)).error_data.parameter).toBe("batch");
    // A request of a batch may refer to earlier requests, but not to itself.
    const { error_data, message } = await send([good, { ...good, name: "b", depends_on: ["b"] }]);
    expect(error_data.parameter).toBe("batch[1]");
    expect(message).toContain("refers to b, which is not an earlier request");
    expect(await send(Array(50).fill(good))).toHaveLength(50);
  });

  test("a method can have any case, GET is the default, and a body can be a form, JSON or an object", async () => {
    const { send } = await open();
    const responses = await send([
      { relative_url: node },
      { method: "post", relative_url: labels, body: "page_label_name=form%20%7B" },
      { method: "POST", relative_url: labels, body: ' {"page_label_name":"text"}' },
      { method: "Post", relative_url: labels, body: { page_label_name: "object" } },
      { name: "vip", relative_url: `${node}?fields=page_label_name`, omit_response_on_success: false },
      { method: "POST", relative_url: labels, body: "{result=vip:$.nothing}page_label_name=after" },
      { relative_url: `${labels}?fields=name&limit=3` },
      { method: "DELETE", relative_url: node },
    ]);
    expect(responses.map(({ code }: { code: number }) => code)).toEqual(Array(8).fill(200));
    const [first, , , , , , list, deleted] = bodiesOf(responses);
    expect(first).toEqual({ id: "5001", page_label_name: "vip" });
    expect(list.data.map(({ name }: { name: string }) => name)).toEqual(["after", "object", "text"]);
    expect(deleted).toEqual({ success: true });
  });

  test("a number in an object as body keeps its digits", async () => {
    const { send } = await open();
    const batch = `[{"method":"POST","relative_url":"${labels}","body":{"page_label_name":9007199254740993}},{"relative_url":"${labels}?fields=name&limit=1"}]`;
    const [, list] = bodiesOf(await send(batch));
    expect(list.data).toMatchObject([{ name: "9007199254740993" }]);
  });

  test("a request with several dependencies runs if all of them succeeded, and its own name does not prevent it", async () => {
    const { send } = await open();
    const [good, bad] = [
      { name: "good", relative_url: node, omit_response_on_success: false },
      { name: "bad", relative_url: "v26.0/5999" },
    ];
    const codes = async (...requests: object[]) =>
      (await send([good, bad, ...requests])).map((response: { code: number } | null) => response?.code ?? null);
    const dependsOn = (...depends_on: string[]) => ({ relative_url: node, depends_on });
    expect(await codes(dependsOn("good"), dependsOn("bad"), dependsOn("good", "bad"), dependsOn("bad", "good"), dependsOn())).toEqual([
      ...[200, 400],
      ...[200, null, null, null, 200],
    ]);
    // A request of a batch that did not run has not succeeded.
    expect(await codes({ ...dependsOn("bad"), name: "never" }, dependsOn("never"))).toEqual([200, 400, null, null]);
  });

  test("headers are shown unless the batch's body or query excludes them", async () => {
    const { plaza, send } = await open();
    const batch = [{ relative_url: node }];
    const hasHeaders = (responses: { headers?: { name: string }[] }[]) =>
      responses[0]?.headers?.some(({ name }) => name === "pf-api-version") === true;
    for (const include_headers of ["true", true, "1", "maybe"]) expect(hasHeaders(await send(batch, { include_headers }))).toBe(true);
    for (const include_headers of ["false", false, "0", 0]) expect(hasHeaders(await send(batch, { include_headers }))).toBe(false);
    const inQuery = (query: object, body: object = {}) =>
      plaza.post("/", { ...three, query: { ...three.query, batch, ...query }, body: { ...body } });
    expect(hasHeaders((await inQuery({ include_headers: "false" })).body)).toBe(false);
    // A parameter in the body has precedence over the query.
    expect(hasHeaders((await inQuery({ include_headers: "false" }, { include_headers: "true" })).body)).toBe(true);
  });

  test("a request with its own token, in any place, uses none of the batch's", async () => {
    const { send } = await open();
    const write = { method: "POST", relative_url: labels };
    const bringing: [missing: string, request: object][] = [
      ["oauth_token", { relative_url: `${labels}?access_token=page` }],
      ["access_token", { relative_url: `${labels}?oauth_token=page` }],
      ["access_token", { ...write, body: "page_label_name=a&access_token=page" }],
      ["access_token", { ...write, body: { page_label_name: "a", access_token: "page" } }],
    ];
    for (const [missing, request] of bringing) {
      const [{ code, body }] = await send([request]);
      expect({ request, code, missing: JSON.parse(body).error_data?.parameter }).toEqual({ request, code: 403, missing });
    }
  });

  test("D-10: a request with both tokens of page messaging in its query gets the batch's bearer, like a followed link", async () => {
    const { plaza, send } = await open();
    for (const page_label_name of ["a", "b"]) await plaza.post(`/${labels}`, { token: "page", body: { page_label_name } });
    const [first] = bodiesOf(await send([{ relative_url: `${labels}?limit=1&fields=name` }]));
    const { next } = first.paging;
    // The link is sent as a whole address, as a path, and with the tokens of another app, which may not know of the page.
    const [whole, path, other] = await send([
      { relative_url: next },
      { relative_url: next.slice("http://plaza.test".length) },
      { relative_url: next.replaceAll("=page", "=bar") },
    ]);
    expect(whole).toEqual({ ...path, headers: whole.headers });
    expect({ code: whole.code, name: JSON.parse(whole.body).data[0].name }).toEqual({ code: 200, name: "a" });
    expect({ code: other.code, parameter: JSON.parse(other.body).error_data.parameter }).toEqual({ code: 403, parameter: "access_token" });
  });

  test("D-299: a request has the files that it names, and no others", async () => {
    const plaza = await openPlaza({ database, world: fullWorld });
    const csv = { filename: "a.csv", contentType: "text/csv", bytes: new TextEncoder().encode("id,title,link,image_link\n") };
    const files = new Map([
      ["file", csv],
      ["other", csv],
    ]);
    const send = (batch: unknown) => plaza.post("/", { bearer: "full-system_user", files, body: { batch: JSON.stringify(batch) } });
    const upload = { method: "POST", relative_url: "v25.0/8101/uploads" };
    const { body } = await send([
      ...["file", " file ", ["file"], "file,other"].map((attached_files) => ({ ...upload, attached_files })),
      ...["other", "", undefined].map((attached_files) => ({ ...upload, attached_files })),
      // The operation H3 refuses every file (D-57).
      { method: "POST", relative_url: "v25.0/4001/subscribed_apps" },
      { method: "POST", relative_url: "v25.0/4001/subscribed_apps", attached_files: "file" },
    ]);
    const named = (bodyText: string) => JSON.parse(bodyText).error?.error_data.parameter;
    expect(body.map((response: { code: number; body: string }) => [response.code, named(response.body)])).toEqual([
      ...Array(4).fill([200, undefined]),
      ...Array(3).fill([400, "file"]),
      ...[
        [200, undefined],
        [400, "file"],
      ],
    ]);
    for (const attached_files of ["missing", "file,missing", ",", 7, {}, null, ["file", null]]) {
      const refused = await send([upload, { ...upload, attached_files }]);
      expect({ attached_files, status: refused.status, parameter: refused.body.error?.error_data.parameter }).toEqual({
        ...{ attached_files, status: 400, parameter: "batch[1].attached_files" },
      });
    }
  });

  test("only the root accepts a batch or ids, each with its method", async () => {
    const { plaza } = await open();
    const batch = [{ relative_url: node }];
    const shown = async (response: Promise<{ status: number; body: object }>) => {
      const { status, body } = await response;
      const { code, message } = { ...body, ...(body as { error?: object }).error } as { code: number; message: string };
      return `${status} ${code} ${message}`;
    };
    expect([
      await shown(plaza.post("/v26.0/2001", { ...three, body: { batch } })),
      await shown(plaza.get("/", { ...three, query: { ...three.query, batch: JSON.stringify(batch) } })),
      await shown(plaza.post("/", { ...three, body: { ids: "5001" } })),
    ]).toEqual([expect.stringMatching(/^400 100 Unsupported post request/), ...Array(2).fill("400 2500 Unknown path components: /")]);
    expect((await plaza.post("/", { ...three, query: { ...three.query, batch: JSON.stringify(batch) } })).body[0].code).toBe(200);
  });
});

onEachDatabase("several nodes by ids=", (database) => {
  const open = () => openPlaza({ database, world: cafe, profile: "clients" });

  test("each id is read once, fifty at most, and none may be empty", async () => {
    const plaza = await open();
    const read = (ids: string) => plaza.get("/v26.0/", { ...three, query: { ...three.query, ids } });
    expect((await read("5001,5101,5001")).body).toEqual((await read("5001,5101")).body);
    for (const ids of ["5001,", ",5001", "5001,,5101", " "]) expect((await read(ids)).body.error_data?.parameter ?? ids).toBe("ids");
    const many = (count: number) => read(Array.from({ length: count }, (_, at) => 700_001 + at).join(","));
    // The first id is not the id of a node.
    expect((await many(50)).body.error_subcode).toBe(33);
    expect((await many(51)).body).toMatchObject({ error_data: { parameter: "ids" }, message: expect.stringContaining("more than 50 ids") });
    expect((await plaza.get("/v26.0/", { ...three, body: { ids: ["5101"] } })).body).toEqual((await read("5101")).body);
  });

  test("the links of an edge belong to its node only, in any form of ids", async () => {
    const plaza = await open();
    for (const name of ["a", "b"]) await plaza.post(`/${labels}`, { token: "page", body: { page_label_name: name } });
    const query = { ...three.query, limit: "1", fields: "name" };
    const alone = (await plaza.get(`/${labels}`, { ...three, query })).body.paging.next;
    for (const path of ["/v26.0/custom_labels", "/v26.0//custom_labels/"]) {
      const { body } = await plaza.get(path, { ...three, query: { ...query, ids: "2001" } });
      expect(Object.keys(body)).toEqual(["2001"]);
      expect(new URL(body["2001"].paging.next).pathname).toBe(new URL(alone).pathname);
      expect(new URL(body["2001"].paging.next).searchParams.get("ids")).toBeNull();
      expect(new URL(body["2001"].paging.next).searchParams.get("limit")).toBe("1");
    }
  });
});
