/** Checks several worlds in one server over the ports of a whole server, on both databases. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { newData, type OwnServer, startOwnServer } from "./own-server.ts";
import { addressOf, listLabels, makeWorld, worldOf } from "./server-of-worlds.ts";

onEachDatabase("several worlds", (kind) => {
  const start = async (): Promise<OwnServer> => startOwnServer({ data: await newData(kind) });

  test("a new world is served below /w/{world} and at {world}.localhost, and the first one as before", async () => {
    const server = await start();
    expect(await makeWorld(server, "orders")).toEqual({ status: 201, body: { name: "orders" } });
    const names = ["5003 of orders", "5002 of orders", "5001 of orders"];
    expect(await listLabels(`${server.baseUrl}/w/orders`)).toMatchObject({ status: 200, names });
    const host = { host: `orders.localhost:${new URL(server.baseUrl).port}` };
    expect(await listLabels(server.baseUrl, "", host)).toMatchObject({ status: 200, names });
    expect((await listLabels(server.baseUrl)).status).toBe(403);
    // The server responds to requests for a missing world as to requests for an empty one (D-333).
    expect((await fetch(`${server.baseUrl}/w/nothing/v26.0/2001`)).status).toBe(401);
  });

  test("links in responses stay in their world", async () => {
    const server = await start();
    await makeWorld(server, "orders");
    const first = await listLabels(`${server.baseUrl}/w/orders`, "&limit=2");
    expect(first.next).toStartWith(`${server.baseUrl}/w/orders/v26.0/2001/custom_labels?`);
    expect((await listLabels(first.next ?? "")).names).toEqual(["5001 of orders"]);
  });

  /** Follows a stream. The returned function reads the next part of the stream; at the end of the stream, the part is "". */
  const follow = async ({ plaza }: OwnServer, path: string): Promise<() => Promise<string>> => {
    const headers = { authorization: `Bearer ${plaza.ready.control_key}`, accept: "text/event-stream" };
    const response = await fetch(`${plaza.ready.control_url}/v1/worlds/${path}`, { headers });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    return async () => new TextDecoder().decode((await reader.read()).value);
  };

  test("the streams of a deleted world end, and others continue", async () => {
    const server = await start();
    for (const name of ["a", "b"]) await makeWorld(server, name);
    const nextOf = await Promise.all(["a/requests", "a/app-events/1001/test-events", "b/requests"].map((path) => follow(server, path)));
    for (const next of nextOf) expect(await next()).toStartWith(": listening");
    expect((await server.control("DELETE", "worlds/a")).status).toBe(200);
    await listLabels(addressOf(server, "b"));
    expect(await Promise.all(nextOf.map((next) => next()))).toEqual(["", "", expect.stringContaining("listLabels")]);
  });

  test("the followers of a world that is reset or restored connect to the new one, and its requests continue", async () => {
    const server = await start();
    await makeWorld(server, "a");
    await server.control("POST", "worlds/a/snapshots", { name: "s" });
    for (const anew of ["reset", "snapshots/s/restore"]) {
      const nextOf = await Promise.all(["a/requests", "a/requests/stream", "a/app-events/1001/test-events"].map((path) => follow(server, path)));
      for (const next of nextOf) expect(await next()).toStartWith(": listening");
      expect((await server.control("POST", `worlds/a/${anew}`)).status).toBe(200);
      await listLabels(addressOf(server, "a"));
      const goesOn = expect.stringContaining("listLabels");
      expect(await Promise.all(nextOf.map((next) => next()))).toEqual([goesOn, goesOn, ""]);
    }
  });

  test("worlds are listed, found by the control API, and gone when they are deleted", async () => {
    const server = await start();
    const { control } = server;
    await makeWorld(server, "b");
    await control("POST", "worlds", { name: "a" });
    const named = async () => (await control("GET", "worlds")).body.data.map(({ name }: { name: string }) => name);
    expect(await named()).toEqual(["default", "a", "b"]);
    expect((await control("GET", "worlds?limit=1")).body).toMatchObject({
      data: [{ name: "default" }, { name: "a", open: false }],
      paging: { next: expect.any(String) },
    });
    expect((await control("GET", "worlds/b/nodes/pages/2001")).body.name).toBe("Page of b");
    expect((await control("GET", "worlds/a/nodes/pages/2001")).status).toBe(404);
    expect(await control("DELETE", "worlds/b")).toEqual({ status: 200, body: { success: true } });
    expect(await named()).toEqual(["default", "a"]);
    expect((await control("GET", "worlds/b/nodes/pages")).status).toBe(404);
    expect((await listLabels(`${server.baseUrl}/w/b`)).status).toBe(403);
    expect((await makeWorld(server, "b", {})).status).toBe(201);
    expect((await control("GET", "worlds/b/nodes/pages")).body.data).toEqual([]);
  });

  test("a world that cannot be created is refused, and nothing of it stays", async () => {
    const { control } = await start();
    expect(await control("POST", "worlds", { name: "Orders" })).toMatchObject({ status: 400, body: { error: { parameter: "name" } } });
    expect(await control("POST", "worlds", { name: "default" })).toMatchObject({ status: 409, body: { error: { parameter: "name" } } });
    expect((await control("POST", "worlds", { name: "a" })).status).toBe(201);
    expect(await control("POST", "worlds", { name: "a" })).toMatchObject({ status: 409, body: { error: { parameter: "name" } } });
    const broken = { name: "c", file: "labels:\n- {id: 78, page: 3, name: q}" };
    expect(await control("POST", "worlds", broken)).toMatchObject({ status: 422, body: { error: { parameter: "labels[0].page" } } });
    expect((await control("GET", "worlds/c/nodes/labels")).status).toBe(404);
    expect(await control("POST", "worlds", { name: "c" })).toMatchObject({ status: 201 });
    expect((await control("DELETE", "worlds/default")).status).toBe(409);
    expect((await control("DELETE", "worlds/nothing")).status).toBe(404);
  });

  test("each world has its own time, faults, request log, profile and tokens", async () => {
    const server = await start();
    const { control } = server;
    await makeWorld(server, "early", { ...worldOf("early"), clock: { now: 1_795_000_000, frozen: true }, profile: "clients" });
    await makeWorld(server, "late", { ...worldOf("late"), clock: { now: 1_795_003_600, frozen: true } });
    expect((await control("GET", "worlds/early/clock")).body).toEqual({ now: 1_795_000_000, frozen: true });
    expect((await control("POST", "worlds/late/clock/advance", { seconds: 60 })).body.now).toBe(1_795_003_660);
    expect((await control("GET", "worlds/early/clock")).body.now).toBe(1_795_000_000);
    expect((await control("POST", "worlds/early/faults", { operation: "*", status: 503 })).status).toBe(201);
    expect((await listLabels(addressOf(server, "early"))).status).toBe(503);
    expect((await listLabels(addressOf(server, "late"))).status).toBe(200);
    const logged = async (name: string) =>
      (await control("GET", `worlds/${name}/requests`)).body.data.map(({ status }: { status: number }) => status);
    expect([await logged("early"), await logged("late"), await logged("default")]).toEqual([[503], [200], []]);
    const listed = (await control("GET", "worlds")).body.data;
    expect(listed.map(({ name, profile }: { name: string; profile: string }) => `${name} ${profile}`)).toEqual([
      "default strict",
      "early clients",
      "late strict",
    ]);
    await control("POST", "worlds", { name: "bare" });
    expect((await listLabels(addressOf(server, "bare"))).status).toBe(403);
  });
});
