import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, requestOfLink, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { codePointCount, isStorableText } from "#kernel/text";

const token = "page";
const onPage = "/v26.0/2001/custom_labels";

async function create(plaza: TestPlaza, name: string): Promise<string> {
  const { status, body } = await plaza.post(onPage, { token, body: { page_label_name: name } });
  expect(status).toBe(200);
  return body.id;
}

async function namesOf(plaza: TestPlaza, path = onPage): Promise<string[]> {
  const { body } = await plaza.get(path, { token, query: { limit: "100" } });
  return body.data.map((label: { name: string }) => label.name);
}

const countsByStatus = (responses: readonly { status: number }[]): Record<number, number> =>
  Object.fromEntries([...Map.groupBy(responses, ({ status }) => status)].map(([status, held]) => [status, held.length]));

onEachDatabase("custom labels", (database) => {
  const open = (options = {}) => openPlaza({ database, world: cafe, ...options });

  test("A2: a created label is listed with id and name, newest first", async () => {
    const plaza = await open();
    const { status, body } = await plaza.post(onPage, { token, body: { page_label_name: "  regular " } });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["id", "name"]);
    expect(body.name).toBe("regular");
    expect(await namesOf(plaza)).toEqual(["regular", "vip"]);
  });

  test("A3, D-36: a label read by its id has id and page_label_name", async () => {
    const plaza = await open();
    const id = await create(plaza, "regular");
    expect((await plaza.get(`/v26.0/${id}`, { token })).body).toEqual({ id, page_label_name: "regular" });
    expect((await plaza.get(`/v26.0/${id}`, { token, query: { fields: "page{name}" } })).body).toEqual({ page: { id: "2001", name: "Cafe" }, id });
  });

  test("A4: a deleted label is removed from its page and from all people", async () => {
    const plaza = await open();
    expect((await plaza.delete("/v26.0/5001", { token })).body).toEqual({ success: true });
    expect(await namesOf(plaza)).toEqual([]);
    expect(await namesOf(plaza, "/v26.0/9001/custom_labels")).toEqual([]);
    const { status, body } = await plaza.get("/v26.0/5001", { token });
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 100, error_subcode: 33 } });
    expect((await plaza.delete("/v26.0/5001", { token })).status).toBe(400);
  });

  test("A5, A6: attaching twice and detaching twice succeed and change the person's labels", async () => {
    const plaza = await open();
    const of9002 = "/v26.0/9002/custom_labels";
    for (const user of ["9002", 9002]) expect((await plaza.post("/v26.0/5001/label", { token, body: { user } })).body).toEqual({ success: true });
    expect(await namesOf(plaza, of9002)).toEqual(["vip"]);
    for (let i = 0; i < 2; i++) expect((await plaza.delete("/v26.0/5001/label", { token, query: { user: "9002" } })).body).toEqual({ success: true });
    expect(await namesOf(plaza, of9002)).toEqual([]);
  });

  test("A5, D-21: an unknown PSID, and one of another page, are refused with 100/2018001", async () => {
    const plaza = await open();
    for (const user of ["9999", "9101", "abc", "2001"]) {
      const { status, body } = await plaza.post("/v26.0/5001/label", { token, body: { user } });
      expect({ status, body }).toMatchObject({ status: 400, body: { code: 100, error_subcode: 2018001 } });
    }
    expect((await plaza.post("/v26.0/5001/label", { token })).body.error_data).toEqual({ parameter: "user" });
  });

  test("A2, A5, A6, D-40: strict reads a parameter in its own place, clients in either; two different values are refused", async () => {
    for (const profile of ["strict", "clients"] as const) {
      const plaza = await openPlaza({ database, world: cafe, profile });
      const status = profile === "strict" ? 400 : 200;
      const paths = { A2: "/v26.0/2001/custom_labels", label: "/v26.0/5001/label" };
      expect(await plaza.post(paths.A2, { token, query: { page_label_name: "x" } })).toMatchObject({ status });
      expect(await plaza.post(paths.label, { token, query: { user: "9002" } })).toMatchObject({ status });
      expect(await plaza.delete(paths.label, { token, body: { user: "9002" } })).toMatchObject({ status });
      const twice = { token, query: { user: "9001" }, body: { user: 9002 } };
      const conflict = { status: 400, body: { error_data: { parameter: "user" } } };
      expect(await plaza.post(paths.label, twice)).toMatchObject(conflict);
      expect(await plaza.delete(paths.label, twice)).toMatchObject(conflict);
      expect(await plaza.delete(paths.label, { token, query: { user: "9001" }, body: { user: 9001 } })).toMatchObject({ status: 200 });
      expect(await plaza.post(paths.label, { token, query: { user: "9001" }, body: { user: null } })).toMatchObject({ status });
    }
  });

  test("D-40: a second label of that name names the existing one; names differ by case", async () => {
    const plaza = await open();
    const { status, body } = await plaza.post(onPage, { token, body: { page_label_name: "vip " } });
    expect({ status, code: body.code, error_data: body.error_data }).toEqual({
      status: 400,
      code: 100,
      error_data: { parameter: "page_label_name", label_id: "5001" },
    });
    await create(plaza, "VIP");
  });

  test("D-40: names have 1 to 80 characters after trimming", async () => {
    const plaza = await open();
    await create(plaza, "x".repeat(80));
    await create(plaza, "😀".repeat(80));
    for (const name of ["", "   ", "x".repeat(81), "a\u0000b", "a\ud800b", ["a"], { a: 1 }]) {
      const { status, body } = await plaza.post(onPage, { token, body: { page_label_name: name } });
      expect({ status, body }).toMatchObject({ status: 400, body: { code: 100 } });
    }
    expect(await namesOf(plaza)).toHaveLength(3);
  });

  test("D-40: any storable name is returned as it was sent", async () => {
    const plaza = await open();
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1, maxLength: 40 }), async (name) => {
        const kept = name.trim();
        fc.pre(isStorableText(kept) && codePointCount(kept) > 0 && codePointCount(kept) <= 80 && !seen.has(kept));
        seen.add(kept);
        const id = await create(plaza, name);
        expect((await plaza.get(`/v26.0/${id}`, { token })).body.page_label_name).toBe(kept);
      }),
      { numRuns: 60 },
    );
  });

  test("D-40: of 40 concurrent creations of one name, one succeeds", async () => {
    const plaza = await open();
    const responses = await Promise.all(Array.from({ length: 40 }, () => plaza.post(onPage, { token, body: { page_label_name: "once" } })));
    expect(countsByStatus(responses)).toEqual({ 200: 1, 400: 39 });
    expect(await namesOf(plaza)).toEqual(["once", "vip"]);
  });

  test("D-40: the number of labels of a page is limited, also for concurrent creations; a deletion makes room", async () => {
    const plaza = await open({ settings: { labels_per_page_max: 10 } });
    const responses = await Promise.all(Array.from({ length: 30 }, (_, i) => plaza.post(onPage, { token, body: { page_label_name: `label ${i}` } })));
    expect(countsByStatus(responses)).toEqual({ 200: 9, 400: 21 });
    expect((await plaza.delete("/v26.0/5001", { token })).status).toBe(200);
    await create(plaza, "fits again");
  });

  test("LIST: following next returns each lasting label exactly once while others are created and deleted", async () => {
    const plaza = await open();
    const stayed = new Set<string>(["5001"]);
    for (let i = 0; i < 37; i++) stayed.add(await create(plaza, `stays ${i}`));
    const seen: string[] = [];
    let next: string | undefined;
    let turn = 0;
    do {
      const link: { path: string; query: Record<string, string> } =
        next === undefined ? { path: onPage, query: { limit: "5" } } : requestOfLink(next);
      const { body } = await plaza.get(link.path, { token, query: link.query });
      seen.push(...body.data.map((label: { id: string }) => label.id));
      next = body.paging.next;
      await create(plaza, `comes ${turn++}`);
    } while (next !== undefined);
    expect(seen.filter((id) => stayed.has(id))).toEqual([...stayed].reverse());
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("D-40 [clients]: name and page_label_name are the same", async () => {
    const plaza = await open({ profile: "clients" });
    const { body } = await plaza.post(onPage, { bearer: token, body: { name: "regular" } });
    expect(body).toEqual({ id: body.id, name: "regular", page_label_name: "regular" });
    expect((await plaza.get(`/v26.0/${body.id}`, { bearer: token, query: { fields: "name" } })).body).toEqual({ name: "regular", id: body.id });
    expect((await plaza.get(onPage, { bearer: token, query: { fields: "page_label_name" } })).body.data[1]).toEqual({
      page_label_name: "vip",
      id: "5001",
    });
  });

  test("D-40 [clients]: the name must not have two values in query and body, even under its two names", async () => {
    const plaza = await open({ profile: "clients" });
    for (const [one, other] of [
      ["name", "page_label_name"],
      ["page_label_name", "name"],
      ["name", "name"],
    ] as const) {
      const refused = await plaza.post(onPage, { bearer: token, query: { [one]: "this" }, body: { [other]: "that" } });
      expect(refused).toMatchObject({ status: 400, body: { error_data: { parameter: "page_label_name" } } });
      const { status } = await plaza.post(onPage, { bearer: token, query: { [one]: `${one} ${other}` }, body: { [other]: `${one} ${other}` } });
      expect(status).toBe(200);
    }
    expect(await namesOf(plaza)).toEqual(["name name", "page_label_name name", "name page_label_name", "vip"]);
  });

  test("D-311 [clients]: two names of one parameter must not have two values in the body, or in the query", async () => {
    const plaza = await open({ profile: "clients" });
    const both = (name: unknown, page_label_name: unknown) => ({ name, page_label_name });
    for (const given of [{ body: both("this", "that") }, { query: both("this", "that") as never }]) {
      const refused = await plaza.post(onPage, { bearer: token, ...given });
      expect(refused).toMatchObject({ status: 400, body: { code: 100, error_data: { parameter: "page_label_name" } } });
    }
    for (const body of [both("1", 1), both("2", null), both(null, "3")]) expect((await plaza.post(onPage, { bearer: token, body })).status).toBe(200);
    expect(await namesOf(plaza)).toEqual(["3", "2", "1", "vip"]);
    // The profile `strict` ignores the parameter `name` of this request.
    const strict = await open();
    expect((await strict.post(onPage, { token, body: both("this", "that") })).body.name).toBe("that");
  });

  test("D-33: creating with fields returns the node", async () => {
    const plaza = await open();
    const { body } = await plaza.post(onPage, { token, query: { fields: "name,page{id}" }, body: { page_label_name: "regular" } });
    expect(body).toEqual({ name: "regular", page: { id: "2001" }, id: body.id });
    const refused = await plaza.post(onPage, { token, query: { fields: "nothing" }, body: { page_label_name: "not written" } });
    expect(refused).toMatchObject({ status: 400, body: { error_data: { parameter: "fields" } } });
    expect(await namesOf(plaza)).not.toContain("not written");
  });
});
