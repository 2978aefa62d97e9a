import { expect, test } from "bun:test";
import { onEachDatabase, openPlaza } from "#harness/plaza";
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
    // D-161.
    for (const written of ['["5001","5101"]', "5001, 5101", "[5001,5101]"]) expect(Object.keys((await ids(written)).body)).toEqual(["5001", "5101"]);
    expect((await plaza.get("/v26.0/", { ...three, query: { ...three.query, ids: ["5001", "5101"] } })).status).toBe(200);
    expect((await ids("[5001")).body.error_data.parameter).toBe("ids");
    expect((await ids("5001,5999")).body.error_subcode).toBe(33);
    expect((await ids("")).body.error_data.parameter).toBe("ids");
    expect((await ids(Array.from({ length: 51 }, (_, i) => 1 + i).join(","))).status).toBe(400);
    expect((await plaza.get("/v26.0/", { query: { ids: "5001" } })).status).toBe(401);
  });

  test("D-34: a batch runs its requests in order, with references, and leaves out what another request asked for", async () => {
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

  test("D-34, D-03: a request of a batch without a version is of the version that the batch was sent to", async () => {
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

  test("D-34: what is no batch is refused, and a request in it may bring its own token", async () => {
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

  test("D-34: an unchanged response is 304 for a request with its tag", async () => {
    const plaza = await open();
    const { headers } = await plaza.get("/v26.0/5001", three);
    const tag = headers.etag as string;
    const again = await plaza.get("/v26.0/5001", { ...three, headers: { ...three.headers, "if-none-match": `"x", W/${tag}` } });
    expect({ status: again.status, body: again.body }).toEqual({ status: 304, body: undefined });
    expect((await plaza.get("/v26.0/5001", { ...three, headers: { ...three.headers, "if-none-match": "*" } })).status).toBe(304);
    expect((await plaza.get("/v26.0/5001", { ...three, headers: { ...three.headers, "if-none-match": '"x"' } })).status).toBe(200);
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
