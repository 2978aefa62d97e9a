/**
 * LIVE-14: tests that the recording of a deleted video is removed, also if the video is deleted with its page, and that the recordings of other
 * videos stay.
 */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { temporaryFolder } from "#harness/server";
import { cafe } from "#harness/worlds";
import type { RunningJob } from "#jobs/job-kind";
import { nodeId } from "#kernel/ids";
import { liveVideos } from "../index.ts";
import { recordingRemovals } from "./transitions.ts";

const scopes = ["pages_manage_posts", "pages_read_engagement"];
const world = {
  ...cafe,
  live_videos: [
    { id: "1", page: "2001", status: "LIVE", condition: "key_dead", crossposted_pages: ["2002"] },
    { id: "2", page: "2001", status: "VOD" },
    { id: "3", page: "2002", status: "VOD", crossposted_pages: ["2001"] },
  ],
  tokens: [{ token: "author", type: "page", app: "1001", page: "2001", scopes }],
};

onEachDatabase("the recording of a live video", (database) => {
  async function open(hasRecordings = true) {
    const recordings = temporaryFolder();
    const plaza = await openPlaza({ database, world, ...(hasRecordings ? { recordings } : {}) });
    const fileOf = (id: string): string => join(recordings, plaza.world.name, id, "1/0.ts");
    for (const id of ["1", "2", "3"]) {
      mkdirSync(join(fileOf(id), ".."), { recursive: true });
      writeFileSync(fileOf(id), "segment");
    }
    return { plaza, recorded: () => ["1", "2", "3"].filter((id) => existsSync(fileOf(id))) };
  }
  const jobsOf = async (plaza: TestPlaza) => ((await plaza.dump(["jobs.key"])) as { value: unknown }[]).map(({ value }) => value);

  test("is deleted with the video, when its page deletes it, and so is its timer", async () => {
    const { plaza, recorded } = await open();
    expect(await jobsOf(plaza)).toEqual(["1"]);
    expect((await plaza.delete("/v26.0/1", { bearer: "author" })).status).toBe(200);
    // A job removes the recording. The job is stored, so it removes the recording even if the server restarts.
    expect([recorded(), await jobsOf(plaza)]).toEqual([["1", "2", "3"], ["1"]]);
    await plaza.world.work.runDue();
    expect([recorded(), await jobsOf(plaza)]).toEqual([["2", "3"], []]);
  });

  test("is gone before its removal is marked as done, so that a failure in between is repeated", async () => {
    const { plaza, recorded } = await open();
    const left: string[][] = [];
    const job: RunningJob = {
      dueMs: 0,
      attempt: 1,
      settle: async () => void left.push(recorded()),
      remember: async () => {},
      whileWaiting: (wait) => wait(),
    };
    await recordingRemovals.run(plaza.world, "2", undefined, job);
    expect(left).toEqual([["1", "3"]]);
  });

  test("is deleted with the page that created the video, not with one that shares it", async () => {
    const { plaza, recorded } = await open();
    await plaza.world.database.write(async (tx) => liveVideos.onOwnerDeleted?.(tx, nodeId("2001"), plaza.world));
    await plaza.world.work.runDue();
    expect(recorded()).toEqual(["3"]);
  });

  test("is skipped on a server without recordings; another server's remaining work is done", async () => {
    const { plaza, recorded } = await open(false);
    const { world: bare } = plaza;
    await plaza.delete("/v26.0/1", { bearer: "author" });
    expect(await jobsOf(plaza)).toEqual([]);
    await bare.database.write((tx) => bare.jobs.schedule(tx, { kind: recordingRemovals.kind, key: "2", dueMs: bare.clock.nowMs() }));
    await bare.work.runDue();
    expect([recorded(), await jobsOf(plaza)]).toEqual([["1", "2", "3"], []]);
  });
});
