/** LIVE-14: the recording of a deleted video is removed, also when the process dies meanwhile. */
import type { World } from "#graph/worlds/world";
import type { JobKind } from "#jobs/job-kind";
import { removeRecording } from "#recordings/read-recording";
import type { Transaction } from "#storage/database";

const REMOVAL_JOB = "live_recording_removal";

/** In the transaction that deletes the video. */
export async function dropRecording(tx: Transaction, world: World, video: string): Promise<void> {
  if (world.recordings !== undefined) await world.jobs.schedule(tx, { kind: REMOVAL_JOB, key: video, dueMs: world.clock.nowMs() });
}

export const recordingRemovals: JobKind<World> = {
  kind: REMOVAL_JOB,
  async run(world, video, _payload, job) {
    // A server without recordings leaves them to one that has them, when it is started so.
    if (world.recordings !== undefined) await removeRecording(world.recordings, world.name, video);
    await world.database.write((tx) => job.settle(tx));
  },
};
