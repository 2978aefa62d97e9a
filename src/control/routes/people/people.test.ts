/**
 * D-172: tests which ids of people the API accepts, and the API's report of an erasure. The tests of the erased records are in the
 * folder of the erasure's own code.
 */
import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";

const NOW = 1_795_000_000;
const WORLD = {
  users: [{ id: "3001", name: "Ada" }],
  pages: [{ id: "2001", name: "Cafe", people: [{ psid: "9001", name: "Guest" }] }],
  social_accounts: [
    { id: "6001", username: "cafe", social_scoped_id: "6901", user: "3001" },
    { id: "6002", username: "fan" },
  ],
  microblog_users: [{ id: "7001", username: "cafe_talk" }],
};

onEachDatabase("D-172: people", (database) => {
  const open = async () => {
    const control = await openControl({ database, world: WORLD });
    const erase = (id: string) => control.request("DELETE", `people/${encodeURIComponent(id)}`);
    return { ...control, erase };
  };

  test("an id has from 4 to 500 characters, whatever they are", async () => {
    const { erase } = await open();
    for (const id of ["abcd", "x".repeat(500), "+49 151/1"]) expect({ id, ...(await erase(id)) }).toMatchObject({ id, status: 200 });
    for (const id of ["abc", "x".repeat(501)])
      expect(await erase(id)).toMatchObject({
        status: 400,
        body: { error: { parameter: "id", message: "id must have from 4 to 500 characters" } },
      });
  });

  test("a person who is a node is deleted with it, before the response; a node that is not a person stays", async () => {
    const { erase, request } = await open();
    for (const [key, id, name] of [
      ["users", "3001", "users"],
      ["social_accounts", "6001", "social accounts"],
      ["social_accounts", "6002", "social accounts"],
      ["microblog_users", "7001", "microblog users"],
    ] as const) {
      expect(await erase(id)).toMatchObject({ status: 200, body: { status: "running", erased: { [name]: 1 } } });
      expect({ key, status: (await request("GET", `nodes/${key}/${id}`)).status }).toEqual({ key, status: 404 });
    }
    expect(await erase("2001")).toMatchObject({
      status: 409,
      body: { error: { parameter: "id", message: "2001 is a node of type page, which is not a person" } },
    });
    expect((await request("GET", "nodes/pages/2001")).status).toBe(200);
    expect((await request("GET", "erasures")).body.data).toHaveLength(4);
  });

  test("an erasure shows when it began, and when it has ended also that; the newest is first", async () => {
    const { erase, request, plaza } = await open();
    const first = (await erase("9001")).body;
    expect(first).toEqual({ id: expect.any(String), status: "running", started_at: NOW, erased: {} });
    expect((await request("GET", `erasures/${first.id}`)).body).toEqual(first);
    plaza.time.realMs += 60_999;
    await plaza.world.work.runDue();
    expect((await request("GET", `erasures/${first.id}`)).body).toEqual({ ...first, status: "done", ended_at: NOW + 60, erased: { people: 1 } });
    const second = (await erase("nobody")).body;
    expect(second.started_at).toBe(NOW + 60);
    expect((await request("GET", "erasures")).body.data.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    const page = (await request("GET", "erasures?limit=1")).body;
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual([second.id]);
  });

  test("an unknown id of an erasure is not found", async () => {
    const { request } = await open();
    for (const id of ["1", "x", "0", "9".repeat(30)]) expect({ id, ...(await request("GET", `erasures/${id}`)) }).toMatchObject({ id, status: 404 });
  });
});
