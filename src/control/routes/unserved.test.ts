import { expect, test } from "bun:test";
import { UnservedNames } from "#graph/worlds/unserved";
import { openControl } from "#harness/control";

test("D-394: the route lists what programs asked for in vain, the most frequent first", async () => {
  const { request, plaza } = await openControl();
  expect((await request("GET", "unserved")).body).toEqual({ data: [], others: 0, paging: {} });
  const edge = { kind: "edge", method: "GET", name: "page/insights" } as const;
  const asking = (trace_id: string, timeMs: number) => ({ app: "1001", timeMs, trace_id });
  plaza.world.unserved?.note({ kind: "field", name: "nmae", of: "page", did_you_mean: "name" }, { ...asking("A", 1_500), app: undefined });
  for (const at of [1, 2]) plaza.world.unserved?.note(edge, asking(`B${at}`, at * 1_000));
  expect((await request("GET", "unserved")).body).toEqual({
    data: [
      { ...edge, count: 2, apps: ["1001"], first_time: 1, last_time: 2, trace_id: "B2" },
      { kind: "field", name: "nmae", of: "page", did_you_mean: "name", count: 1, apps: [], first_time: 1.5, last_time: 1.5, trace_id: "A" },
    ],
    others: 0,
    paging: {},
  });
});

test("D-394: the list of a worker is added to that of the first process", () => {
  const [worker, first] = [new UnservedNames(), new UnservedNames()];
  const note = (names: UnservedNames, app: string, timeMs: number) =>
    names.note({ kind: "version", name: "v9.0" }, { app, timeMs, trace_id: `${timeMs}` });
  note(first, "1001", 1);
  note(worker, "1002", 2);
  first.adopt(worker.take());
  expect(first.list()).toEqual([{ kind: "version", name: "v9.0", count: 2, apps: ["1001", "1002"], first_ms: 1, last_ms: 2, trace_id: "2" }]);
  expect(worker.list()).toEqual([]);
});
