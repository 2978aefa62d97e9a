import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const three = { query: { access_token: "page", oauth_token: "page" }, headers: { authorization: "Bearer page" } };

onEachDatabase("several requests in one", (database) => {
  const open = () => openPlaza({ database, world: cafe });

  test("D-34: ids= returns an object by id, and fails as the first that fails", async () => {
    const plaza = await open();
    const ids = (list: string, path = "/v26.0/") => plaza.get(path, { ...three, query: { ...three.query, ids: list } });
    expect((await ids("5001,5101")).body).toEqual({
      5001: { id: "5001", page_label_name: "vip" },
      5101: { id: "5101", name: "Bo", profile_picture_url: "https://example.com/bo.png" },
    });
    expect((await ids("2001", "/v26.0/custom_labels")).body["2001"].data).toHaveLength(1);
    // D-161: a list of plain values can be written in each of these notations.
    for (const written of ['["5001","5101"]', "5001, 5101", "[5001,5101]"]) expect(Object.keys((await ids(written)).body)).toEqual(["5001", "5101"]);
    expect((await plaza.get("/v26.0/", { ...three, query: { ...three.query, ids: ["5001", "5101"] } })).status).toBe(200);
    expect((await ids("[5001")).body.error_data.parameter).toBe("ids");
    expect((await ids("5001,5999")).body.error_subcode).toBe(33);
    expect((await ids("")).body.error_data.parameter).toBe("ids");
    expect((await ids(Array.from({ length: 51 }, (_, i) => 1 + i).join(","))).status).toBe(400);
    expect((await plaza.get("/v26.0/", { query: { ids: "5001" } })).status).toBe(401);
  });

  test("D-34: a batch runs its requests in order, with references, and omits responses that others use", async () => {
    const plaza = await open();
    const batch = [
      { method: "POST", name: "made", relative_url: "v26.0/2001/custom_labels", body: "page_label_name=new%20one" },
      { method: "GET", relative_url: "v26.0/{result=made:$.id}?fields=page_label_name" },
      { method: "GET", relative_url: "v26.0/5999" },
      { method: "DELETE", relative_url: "v26.0/5101", depends_on: "made" },
    ];
    const { status, body } = await plaza.post("/", { ...three, body: { batch: JSON.stringify(batch) } });
    expect(status).toBe(200);
    expect(body[0]).toBeNull();
    expect(JSON.parse(body[1].body).page_label_name).toBe("new one");
    expect({ code: body[2].code, subcode: JSON.parse(body[2].body).error_subcode }).toEqual({ code: 400, subcode: 33 });
    expect(JSON.parse(body[3].body)).toEqual({ success: true });
    expect(body[1].headers.find(({ name }: { name: string }) => name === "pf-api-version").value).toBe("v26.0");
  });

  test("D-34, D-03: a request of a batch without a version has the batch's version", async () => {
    const plaza = await open();
    const batch = ["2001/custom_labels", "/v21.0/2001/custom_labels"].map((relative_url) => ({ method: "GET", relative_url }));
    const versions = async (path: string) => {
      const { body } = await plaza.post(path, { ...three, body: { batch } });
      return body.map(
        (response: { headers: { name: string; value: string }[] }) => response.headers.find(({ name }) => name === "pf-api-version")?.value,
      );
    };
    expect(await versions("/v23.0/")).toEqual(["v23.0", "v21.0"]);
    expect(await versions("/")).toEqual(["v25.0", "v21.0"]);
  });

  test("D-34: a request whose dependency failed is not run", async () => {
    const plaza = await open();
    const batch = [
      { method: "GET", name: "gone", relative_url: "v26.0/5999", omit_response_on_success: false },
      { method: "DELETE", relative_url: "v26.0/5001?x={result=gone:$.id}" },
    ];
    const { body } = await plaza.post("/", { ...three, body: { batch, include_headers: "false" } });
    expect(body[1]).toBeNull();
    expect(Object.keys(body[0])).toEqual(["code", "body"]);
    expect((await plaza.get("/v26.0/5001", three)).status).toBe(200);
  });

  test("D-34: an invalid batch is refused, and a request in it may have its own token", async () => {
    const plaza = await open();
    const send = (batch: unknown) => plaza.post("/v26.0/", { ...three, body: { batch } });
    const request = { method: "GET", relative_url: "v26.0/5001" };
    const wrong = [
      "x",
      "{}",
      [],
      [1],
      [{}],
      Array(51).fill(request),
      [
        { ...request, name: "a" },
        { ...request, name: "a" },
      ],
      [{ ...request, depends_on: "later" }],
    ];
    for (const batch of wrong) expect((await send(batch)).status).toBe(400);
    expect((await plaza.post("/", { body: { batch: [request] } })).status).toBe(401);
    const nested = await send([{ method: "POST", relative_url: "/", body: { batch: [request] } }]);
    expect(nested.body[0].code).toBe(400);
    const own = await send([{ method: "GET", relative_url: "v26.0/5001?access_token=bar" }]);
    expect(own.body[0].code).toBe(400);
  });

  test("D-39: growing references end at the limits of a single request, and the other requests continue", async () => {
    const plaza = await open();
    const first = { name: "r0", relative_url: "v26.0/2001/custom_labels?limit=1&debug=all&x=1234567890" };
    const before = "{result=NAME:$..message}{result=NAME:$..message}";
    const chain = Array.from({ length: 20 }, (_, i) => {
      const name = `r${i + 1}`;
      return { name, relative_url: `v26.0/2001/custom_labels?debug=all&${before.replaceAll("NAME", `r${i}`)}=1`, omit_response_on_success: false };
    });
    const write = { method: "DELETE", relative_url: "v26.0/5101" };
    const batch = [first, ...chain, write].map((request) => ({ method: "GET", ...request }));
    const { status, body } = await plaza.post("/", { ...three, body: { batch } });
    expect(status).toBe(200);
    const codes: (number | null)[] = body.slice(1, -1).map((response: { code: number } | null) => response?.code ?? null);
    const refused = codes.indexOf(431);
    expect(refused).toBeGreaterThan(2);
    expect(codes).toEqual([...Array(refused).fill(200), 431, ...Array(codes.length - refused - 1).fill(null)]);
    expect(JSON.parse(body[refused + 1].body)).toMatchObject({ code: 100, pftrace_id: expect.any(String) });
    expect(body.at(-1).code).toBe(200);
    expect(JSON.stringify(body).length).toBeLessThan(1_000_000);
  });

  test("D-39: the body that references build is limited, and so is the total that they build and visit", async () => {
    const personas = Array.from({ length: 100 }, (_, i) => ({
      id: String(5200 + i),
      page: "2001",
      name: "𝄞",
      profile_picture_url: `https://x/${"y".repeat(2_000)}`,
    }));
    const plaza = await openPlaza({ database, world: { ...cafe, personas } });
    const list = { method: "GET", name: "all", relative_url: "v26.0/2001/personas?limit=100" };
    const codesOf = async (...requests: object[]) => {
      const { body } = await plaza.post("/", { ...three, body: { batch: [list, ...requests] } });
      return body.slice(1).map((response: { code: number; body: string }) => [response.code, JSON.parse(response.body).error_data?.parameter]);
    };
    const label = (times: number, path: string) => ({
      ...{ method: "POST", relative_url: "v26.0/2001/custom_labels" },
      body: `page_label_name=a&x=${`{result=all:${path}}`.repeat(times)}`,
    });
    const urls = "$.data[*].profile_picture_url";
    expect(await codesOf(label(10, urls), { ...label(1, "$.data[0].id"), body: "page_label_name=after" })).toEqual([
      [413, undefined],
      [200, undefined],
    ]);
    const [, , , , , ...beyond] = await codesOf(...Array.from({ length: 7 }, () => label(4, urls)));
    expect(beyond).toEqual(Array(2).fill([400, "batch"]));
    expect(await codesOf(label(200, "$..nothing"))).toEqual([[400, "batch"]]);
  });

  test("D-39: the responses of a batch are limited together; later requests are not run, and say so", async () => {
    const personas = Array.from({ length: 100 }, (_, i) => ({
      id: String(5200 + i),
      page: "2001",
      name: "𝄞",
      profile_picture_url: `https://x/${"y".repeat(2_000)}`,
    }));
    const plaza = await openPlaza({ database, world: { ...cafe, personas } });
    const batch: object[] = Array(49).fill({ method: "GET", relative_url: "v26.0/2001/personas?limit=100" });
    batch.push({ method: "DELETE", relative_url: "v26.0/5001" });
    const { body } = await plaza.post("/", { ...three, body: { batch } });
    const run = body.findIndex(({ code }: { code: number }) => code !== 200);
    expect(run).toBeGreaterThan(30);
    expect(
      body.slice(run).map((response: { code: number; body: string }) => [response.code, JSON.parse(response.body).error_data.parameter]),
    ).toEqual(Array(50 - run).fill([400, "batch"]));
    expect((await plaza.get("/v26.0/5001", three)).status).toBe(200);
  });

  test("D-39: the responses to ids= are limited together, and the error names the parameter", async () => {
    const pages = Array.from({ length: 50 }, (_, at) => ({ id: String(20_001 + at) }));
    const link = (at: number) => `https://x/${at}/${"y".repeat(2_000)}`;
    const personas = pages.flatMap(({ id: page }, of) =>
      Array.from({ length: 100 }, (_, at) => ({ id: String(600_000 + 100 * of + at), page, name: "Bo", profile_picture_url: link(at) })),
    );
    const tokens = [{ token: "everywhere", type: "system_user", app: "1001", user: "3001", scopes: ["pages_messaging"] }];
    const roles = [{ user: "3001", tasks: ["MESSAGING"] }];
    const world = { ...cafe, pages: pages.map((page) => ({ ...page, roles })), labels: [], personas, tokens };
    const plaza = await openPlaza({ database, world, profile: "clients" });
    const read = (count: number) =>
      plaza.get("/v26.0/personas", {
        token: "everywhere",
        query: {
          limit: "100",
          ids: pages
            .slice(0, count)
            .map(({ id }) => id)
            .join(","),
        },
      });
    expect(Object.keys((await read(30)).body)).toHaveLength(30);
    expect(await read(50)).toMatchObject({ status: 400, body: { error: { code: 100 } } });
  });

  test("D-39: an unreadable path is refused before any request is run", async () => {
    const plaza = await open();
    for (const path of ["$.", "$.a[", "$...a", "$['a", `$${".a".repeat(33)}`]) {
      const batch = [
        { method: "DELETE", name: "gone", relative_url: "v26.0/5001" },
        { method: "GET", relative_url: `v26.0/{result=gone:${path}}` },
      ];
      const { status, body } = await plaza.post("/", { ...three, body: { batch } });
      expect({ path, status, parameter: body.error_data?.parameter }).toEqual({ path, status: 400, parameter: "batch" });
    }
    expect((await plaza.get("/v26.0/5001", three)).status).toBe(200);
  });

  test("D-34: an unchanged response is 304 for a request with its tag", async () => {
    const plaza = await open();
    const { headers } = await plaza.get("/v26.0/5001", three);
    const tag = headers.etag as string;
    const again = await plaza.get("/v26.0/5001", { ...three, headers: { ...three.headers, "if-none-match": `"x", W/${tag}` } });
    expect({ status: again.status, body: again.body }).toEqual({ status: 304, body: undefined });
    expect((await plaza.get("/v26.0/5001", { ...three, headers: { ...three.headers, "if-none-match": "*" } })).status).toBe(304);
    expect((await plaza.get("/v26.0/5001", { ...three, headers: { ...three.headers, "if-none-match": '"x"' } })).status).toBe(200);
  });

  test("D-34: an entity tag belongs to a whole response: requests of a batch or of ids= have none", async () => {
    const plaza = await open();
    const tag = (await plaza.get("/v26.0/5001", three)).headers.etag as string;
    const tagged = (known: string) => ({ ...three, headers: { ...three.headers, "if-none-match": known } });
    for (const known of [tag, "*"]) {
      const { status, body } = await plaza.post("/", { ...tagged(known), body: { batch: [{ relative_url: "v26.0/5001" }] } });
      expect({ status, code: body[0].code, id: JSON.parse(body[0].body).id }).toEqual({ status: 200, code: 200, id: "5001" });
    }
    const ids = (known: string) => plaza.get("/v26.0/", { ...tagged(known), query: { ...three.query, ids: "5001" } });
    const whole = await ids(tag);
    expect(whole).toMatchObject({ status: 200, body: { "5001": { id: "5001" } } });
    expect((await ids(whole.headers.etag as string)).status).toBe(304);
  });

  test("D-34: omit_response_on_success decides, otherwise whether another request refers to it; a failure is always shown", async () => {
    const plaza = await open();
    const relative_url = "v26.0/5001";
    const batch = [
      { name: "shown", relative_url, omit_response_on_success: false },
      { name: "referred", relative_url },
      { name: "omitted", relative_url, omit_response_on_success: true },
      { relative_url, omit_response_on_success: true },
      { relative_url: "v26.0/5999", omit_response_on_success: true },
      { relative_url: "v26.0/{result=shown:$.id}" },
      { relative_url: "v26.0/{result=referred:$.id}" },
      { name: "alone", relative_url },
    ];
    const { body } = await plaza.post("/", { ...three, body: { batch } });
    expect(body.map((response: { code: number } | null) => response?.code ?? null)).toEqual([200, null, null, null, 400, 200, 200, 200]);
    // The flag may have any true or false value that a client sends, in JSON and as the text of a form.
    const [yes, no] = [
      [true, 1, "true", "1", "TRUE"],
      [false, 0, "false", "0", "False"],
    ] as const;
    const all = [...yes, ...no].map((omit_response_on_success) => ({ relative_url, omit_response_on_success }));
    for (const given of [all, JSON.stringify(all)]) {
      const responses = (await plaza.post("/", { ...three, body: { batch: given } })).body;
      expect(responses.map((response: unknown) => response === null)).toEqual(all.map((_, at) => at < yes.length));
    }
  });

  test("D-34: metadata=1 describes the node, debug=all lists what was ignored", async () => {
    const plaza = await open();
    const asked = (query: Record<string, unknown>, path = "/v26.0/5001") => plaza.get(path, { ...three, query: { ...three.query, ...query } });
    const { metadata } = (await asked({ metadata: "1" }, "/v26.0/5101")).body;
    expect(metadata.type).toBe("persona");
    expect(metadata.fields).toContainEqual({ name: "profile_picture_url", type: "string" });
    expect((await asked({ metadata: "1" })).body.metadata.connections).toEqual({});
    const { body } = await asked({ debug: "all", colour: "red" }, "/2001/custom_labels");
    expect(body.__debug__.messages).toEqual([
      { type: "warning", message: "The parameter colour is not known here and was ignored." },
      { type: "info", message: "The request named no version; v25.0 served it." },
    ]);
    expect((await asked({ debug: "warning" }, "/2001/custom_labels")).body.__debug__.messages).toEqual([]);
    expect((await asked({ debug: "loud" })).body.error_data.parameter).toBe("debug");
  });
});
