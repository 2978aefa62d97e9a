/** `plaza live`: the server's own encoder sends a test clip to a live video. */
import { type Given, withServer } from "../control-client.ts";
import { note, say } from "../terminal/output.ts";

const PLANNED = ["unpublished", "scheduled_unpublished", "scheduled_live"];

/**
 * Starts the server's encoder. Resolves with the exit code, which is 0 when the encoder sends. Publishes the video if it is not published
 * yet, unless `--preview` is given.
 */
export const playTestClip = (video: string, given: Given): Promise<number> =>
  withServer(given, async ({ request }) => {
    const path = `live-videos/${encodeURIComponent(video)}`;
    const { state } = await request("POST", `${path}/test-encoder`);
    if (PLANNED.includes(state) && given.preview !== true) await request("POST", `${path}/publish`);
    const { embeddable } = await request("GET", `nodes/live_videos/${encodeURIComponent(video)}`);
    const { base_url } = await request("GET", "/v1/server");
    const name = String(given.world_name);
    const player = `${base_url}${name === "default" ? "" : `/w/${name}`}/player/${video}`;
    if (given.json === true) {
      say(JSON.stringify({ player, embeddable }));
      return 0;
    }
    say(`the test clip plays in live video ${video}, until the broadcast ends or you run: plaza live stop ${video}`);
    if (PLANNED.includes(state) && given.preview === true) note("The clip is a preview, which nobody sees before the video is published.");
    else if (embeddable === true) say(`watch the video, in some seconds, at ${player}`);
    else note(`The video's player opens once the video is embeddable: ${player}`);
    return 0;
  });

/** Stops the server's encoder. After the stop, the video waits for another encoder, as after a lost connection. */
export const stopTestClip = (video: string, given: Given): Promise<number> =>
  withServer(given, async ({ request }) => {
    const stopped = await request("DELETE", `live-videos/${encodeURIComponent(video)}/test-encoder`);
    const { state } = stopped;
    say(given.json === true ? JSON.stringify(stopped) : `the test clip no longer plays in live video ${video}, which is ${state}`);
    return 0;
  });
