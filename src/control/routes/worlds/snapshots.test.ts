/** Tests the control API's responses for snapshots and resets. The effect of snapshots on a world is tested in `src/graph/worlds`. */
import { expect, test } from "bun:test";
import type { ControlDeps } from "#control-contract/route";
import { openControl } from "#harness/control";
import { StateOutdated } from "#storage/database";

/** A stand-in for the worlds of a server. The world `orders` has the snapshots `one` and `old`; `old` is from another version of Plaza. */
async function open() {
  const asked: string[] = [];
  const note = <T>(what: string, world: string, result: T): T | undefined => {
    asked.push(`${what} ${world}`);
    return world === "orders" ? result : undefined;
  };
  const { plaza } = await openControl();
  const hold = async (name: string) => (name === "default" ? { world: plaza.world, leave: () => {}, onReplaced: () => () => {} } : undefined);
  const control = await openControl(
    {},
    {
      worlds: {
        default: plaza.world,
        open: () => [plaza.world].values(),
        hold,
        list: async () => ({ rows: [], hasPrevious: false, hasNext: false }),
        make: async () => false,
        delete: async () => false,
        saveSnapshot: async (world: string, name: string) => note(`save ${name} of`, world, true),
        listSnapshots: async (world: string) => note("list", world, [{ name: "one", saved_ms: 1_795_000_000_999 }]),
        deleteSnapshot: async (world: string, name: string) => note(`delete ${name} of`, world, name === "one"),
        restoreSnapshot: async (world: string, name: string) => {
          if (name === "old") throw new StateOutdated(name);
          return note(`restore ${name} of`, world, name === "one");
        },
        reset: async (world: string) => note("reset", world, true),
      } as unknown as ControlDeps["worlds"],
    },
  );
  const ask = (method: string, path: string, body?: unknown) => control.request(method, `/v1/worlds/${path}`, body);
  return { ask, asked };
}

test("a snapshot is created, listed with its time, restored and deleted, by its name and its world's", async () => {
  const { ask, asked } = await open();
  expect(await ask("POST", "orders/snapshots", { name: "one" })).toEqual({ status: 201, body: { name: "one" } });
  expect(await ask("GET", "orders/snapshots")).toEqual({ status: 200, body: { data: [{ name: "one", taken_at: 1_795_000_000 }], paging: {} } });
  expect(await ask("POST", "orders/snapshots/one/restore")).toEqual({ status: 200, body: { success: true } });
  expect(await ask("DELETE", "orders/snapshots/one")).toEqual({ status: 200, body: { success: true } });
  expect(await ask("POST", "orders/reset")).toEqual({ status: 200, body: { success: true } });
  expect(asked).toEqual(["save one of orders", "list orders", "restore one of orders", "delete one of orders", "reset orders"]);
});

test("a name has at most 64 letters, digits, - and _; other keys are refused", async () => {
  const { ask, asked } = await open();
  for (const name of ["a", "A-1_b", "x".repeat(64)]) expect((await ask("POST", "orders/snapshots", { name })).status).toBe(201);
  expect(asked).toHaveLength(3);
  for (const name of ["", "a b", "a.b", "a/b", "é", "x".repeat(65)])
    expect(await ask("POST", "orders/snapshots", { name })).toMatchObject({ status: 400, body: { error: { parameter: "name" } } });
  for (const body of [{}, { name: "a", more: 1 }]) expect((await ask("POST", "orders/snapshots", body)).status).toBe(400);
  expect(asked).toHaveLength(3);
});

test("a missing world or snapshot is not found, and the message says which", async () => {
  const { ask } = await open();
  const notFound = (message: string) => ({ status: 404, body: { error: { code: "not_found", message: expect.stringContaining(message) } } });
  for (const [method, path, body] of [
    ["POST", "gone/snapshots", { name: "one" }],
    ["GET", "gone/snapshots", undefined],
    ["DELETE", "gone/snapshots/one", undefined],
    ["POST", "gone/snapshots/one/restore", undefined],
    ["POST", "gone/reset", undefined],
  ] as const)
    expect(await ask(method, path, body)).toMatchObject(notFound("world gone"));
  expect(await ask("DELETE", "orders/snapshots/none")).toMatchObject(notFound("snapshot none"));
  expect(await ask("POST", "orders/snapshots/none/restore")).toMatchObject(notFound("snapshot none"));
});

test("a snapshot of another version is a conflict, and the message says what to do", async () => {
  const { ask } = await open();
  expect(await ask("POST", "orders/snapshots/old/restore")).toMatchObject({
    status: 409,
    body: { error: { parameter: "name", message: "another version of Plaza created the snapshot, so it cannot be restored: create a new one" } },
  });
});
