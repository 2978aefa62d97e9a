/** Checks encoders of GStreamer, which end their streams with other messages than ffmpeg. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openLiveServer } from "#harness/live/live-server";
import { needs } from "#harness/processes/needs";
import { temporaryFolder } from "#harness/server";

needs("gstreamer");

const PICTURES =
  "videotestsrc num-buffers=50 is-live=true ! video/x-raw,width=320,height=240,framerate=25/1 ! x264enc tune=zerolatency key-int-max=50 ! h264parse";
const SOUND = "audiotestsrc num-buffers=86 is-live=true ! audio/x-raw,rate=44100,channels=2 ! voaacenc ! aacparse";

test.each(["rtmp2sink", "rtmpsink"])("%s sends two seconds and exits without an error, and its feed ends", async (sink) => {
  const liveServer = await openLiveServer(join(temporaryFolder(), "data"));
  const { id, stream_url } = await liveServer.create();
  const pipeline = `${PICTURES} ! queue ! flvmux streamable=true name=m ! ${sink} location=${stream_url} ${SOUND} ! queue ! m.`;
  const child = Bun.spawn(["gst-launch-1.0", "-q", ...pipeline.split(" ")], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect({ code: await child.exited, said: said.join("") }).toEqual({ code: 0, said: "" });
  expect(await liveServer.stateWhen(id, ({ state }) => state === "reconnecting")).toMatchObject({ feed: { session: 1 } });
});
