/** The timers of live videos: windows, plans, sealing, processing. One job for each video, because a state has one timer. */
import type { World } from "#graph/worlds/world";
import type { JobKind } from "#jobs/job-kind";
import { nodeId } from "#kernel/ids";
import { DEADLINE_JOB, holdVideo, passDeadline } from "./transitions.ts";

export const liveVideoDeadlines: JobKind<World> = {
  kind: DEADLINE_JOB,
  async run(world, id, _payload, job) {
    await world.database.write(async (tx) => {
      // The video is locked before its job, in the same order as in transactions that set the timer, to avoid deadlocks.
      const row = await holdVideo(tx, nodeId(id));
      await job.settle(tx);
      if (row !== undefined) await passDeadline(tx, world, row);
    });
  },
};
