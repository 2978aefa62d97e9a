import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";

const token = "page";
const onPage = "/v26.0/2001/personas";
const picture = "https://example.com/p.png";

onEachDatabase("personas", (database) => {
  const open = (options = {}) => openPlaza({ database, world: cafe, ...options });

  test("A8, A7: a created persona is listed with its fields, newest first", async () => {
    const plaza = await open();
    const { status, body } = await plaza.post(onPage, { token, body: { name: "Ann", profile_picture_url: picture } });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["id"]);
    expect((await plaza.get(onPage, { token })).body.data).toEqual([
      { id: body.id, name: "Ann", profile_picture_url: picture },
      { id: "5101", name: "Bo", profile_picture_url: "https://example.com/bo.png" },
    ]);
  });

  test("D-02: a new id skips ids that a world file has brought", async () => {
    const plaza = await open();
    const { ids } = plaza.world;
    const mint = ids.mint.bind(ids);
    const taken = ["2001", "5101"].map(nodeId);
    ids.mint = () => taken.shift() ?? mint();
    const persona = { name: "Ann", profile_picture_url: picture };
    const { status, body } = await plaza.post(onPage, { token, body: persona });
    expect(status).toBe(200);
    expect((await plaza.get(`/v26.0/${body.id}`, { token })).body).toEqual({ id: body.id, ...persona });
  });

  test("A8-3, D-41: name and picture may be sent in the query; the body has precedence", async () => {
    const plaza = await open();
    const query = { name: "Query", profile_picture_url: picture };
    const { body } = await plaza.post(onPage, { token, query, body: { name: "Body" } });
    expect((await plaza.get(`/v26.0/${body.id}`, { token })).body).toEqual({ id: body.id, name: "Body", profile_picture_url: picture });
    const nulls = await plaza.post(onPage, { token, query, body: { name: null, profile_picture_url: null } });
    expect((await plaza.get(`/v26.0/${nulls.body.id}`, { token })).body).toEqual({ id: nulls.body.id, ...query });
  });

  test("D-41: both are required; a name has 1 to 50 characters, a picture is an http(s) address", async () => {
    const plaza = await open();
    const wrong: [Record<string, unknown>, string][] = [
      [{ profile_picture_url: picture }, "name"],
      [{ name: "Ann" }, "profile_picture_url"],
      [{ name: " ", profile_picture_url: picture }, "name"],
      [{ name: "x".repeat(51), profile_picture_url: picture }, "name"],
      [{ name: "Ann", profile_picture_url: "ftp://example.com/p.png" }, "profile_picture_url"],
      [{ name: "Ann", profile_picture_url: "example.com" }, "profile_picture_url"],
      [{ name: "Ann", profile_picture_url: "https://" }, "profile_picture_url"],
      // D-312: the test sends picture addresses that contain white space or control characters.
      ...["a b", "a\nb", "a\u0007", "a\u0085b", "a\u00a0b", "a "].map((path): [Record<string, unknown>, string] => [
        { name: "Ann", profile_picture_url: `https://example.com/${path}` },
        "profile_picture_url",
      ]),
    ];
    for (const [body, parameter] of wrong) {
      const response = await plaza.post(onPage, { token, body });
      expect(response).toMatchObject({ status: 400, body: { code: 100, error_data: { parameter } } });
    }
    await plaza.post(onPage, { token, body: { name: "😀".repeat(50), profile_picture_url: "HTTP://example.com" } });
    expect((await plaza.get(onPage, { token })).body.data).toHaveLength(2);
    await plaza.post(onPage, { token, body: { name: `\t ${"x".repeat(50)} `, profile_picture_url: picture } });
    expect((await plaza.get(onPage, { token })).body.data[0].name).toBe("x".repeat(50));
  });

  test("A7: a deleted persona is neither listed nor read", async () => {
    const plaza = await open();
    expect((await plaza.delete("/v26.0/5101", { token })).body).toEqual({ success: true });
    expect((await plaza.get(onPage, { token })).body).toEqual({ data: [], paging: { cursors: {} } });
    expect((await plaza.get("/v26.0/5101", { token })).body.error_subcode).toBe(33);
  });

  test("D-14: another page's token gets the same response for an existing persona and a missing one", async () => {
    const plaza = await open();
    const strip = (text: unknown) =>
      JSON.stringify(text)
        .replaceAll("5101", "ID")
        .replaceAll("5109", "ID")
        .replace(/"pftrace_id":"[^"]*"/, "");
    for (const method of ["GET", "DELETE", "POST"]) {
      for (const request of [{ token: "bar" }, { bearer: "bar" }, { query: { access_token: "bar" } }, { token: "cleo" }, { token: "app" }]) {
        for (const version of ["/v26.0", "/v24.0", ""]) {
          const there = await plaza.request(method, `${version}/5101`, request);
          const missing = await plaza.request(method, `${version}/5109`, request);
          expect(there.status).toBe(missing.status);
          expect(strip(there.body)).toBe(strip(missing.body));
        }
      }
    }
    expect((await plaza.get("/v26.0/5101", { token })).status).toBe(200);
  });
});
