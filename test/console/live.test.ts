import { expect, test } from "bun:test";
import { type ConsolePage, openConsole } from "#harness/console/console-page";
import { playsUntil } from "#harness/live/viewer";
import { type Server, startServer } from "#harness/server";

/** A browser that encodes and plays, on a small machine. */
const BROWSER_MS_MAX = 120_000;
const CAMERA = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly feed: { readonly is_sending: boolean };
}

async function control<T>(server: Server, path: string): Promise<T> {
  const headers = { authorization: `Bearer ${server.control_key}` };
  return (await (await fetch(`${server.control_url}/v1/worlds/default/${path}`, { headers })).json()) as T;
}

/** Presses "Go live", and resolves with the id of the live video once its encoder sends. */
async function goLive(server: Server, page: ConsolePage): Promise<string> {
  await page.click("● Go live");
  await page.shows("on air");
  for (;;) {
    const { data } = await control<{ data: Listed[] }>(server, "live-videos");
    const sent = data.find(({ state, feed }) => state === "live" && feed.is_sending);
    if (sent !== undefined) return sent.id;
    await Bun.sleep(20);
  }
}

test(
  "a broadcast of the browser's drawn picture is watched in the player, with its health, and ended",
  async () => {
    const server = await startServer(["--rtmp-port", "0"]);
    const page = await openConsole(server, "/live");
    await page.shows("Go live from here");
    await page.click("Go live from here");
    await page.shows("What it shows");
    await page.screenshot("live-begin");
    expect(await page.violations()).toEqual([]);
    await page.fill("Title", "From the browser");
    const id = await goLive(server, page);
    const player = `${server.base_url}/player/`;
    const first = await playsUntil(page.page, player, ({ currentTime }) => currentTime > 1);
    expect(first).toMatchObject({ width: 640, height: 360, error: null });
    await playsUntil(page.page, player, ({ currentTime }) => currentTime > first.currentTime + 1);
    await page.shows("From the browser", "640 × 360 pixels", "Bit rate: ", "Key-frame distance: ", "an encoder began to send → ● live");
    expect(await page.violations()).toEqual([]);
    await page.setTheme("light");
    await page.screenshot("live-broadcast");
    await page.evaluate("document.querySelector('.metric').scrollIntoView()");
    await page.screenshot("live-health");
    await page.click("■ End the broadcast");
    await page.shows("the broadcast was ended", "the recording is ready → ✓ recording");
    // A browser plays nothing that is out of sight.
    await page.evaluate("document.querySelector('iframe').scrollIntoView()");
    await playsUntil(page.page, player, ({ ended }) => ended);
    await page.evaluate("document.querySelector('.moves').scrollIntoView()");
    await page.screenshot("live-ended");
    expect(await control<object>(server, `live-videos/${id}/ingest`)).toMatchObject({ state: "vod", feed: { is_sending: false } });
    // Until there is something to play, the playlist is a 503. A busy browser may drop pictures that it has not handed over, and says so.
    expect(page.page.problems.filter((problem) => !/503|VideoFrame was garbage collected/.test(problem))).toEqual([]);
  },
  BROWSER_MS_MAX,
);

test(
  "a broadcast of the camera goes on beside other views, and ends with its tab",
  async () => {
    const server = await startServer(["--rtmp-port", "0"]);
    const page = await openConsole(server, "/live?open=broadcast", server.control_key, CAMERA);
    await page.shows("What it shows");
    await page.click("the camera and microphone");
    const id = await goLive(server, page);
    await page.click("Webhooks");
    await page.shows("Trigger an event");
    await page.click("Live");
    await page.click("● This tab broadcasts");
    await page.shows("1280 × 720 pixels");
    await page.screenshot("live-camera");
    await page.page.send("Page.navigate", { url: "about:blank" });
    for (let state = ""; state !== "vod"; await Bun.sleep(20)) ({ state } = await control<Listed>(server, `live-videos/${id}/ingest`));
  },
  BROWSER_MS_MAX,
);

test("without a port for encoders nothing is promised, and the page may connect nowhere else", async () => {
  const server = await startServer([]);
  const page = await openConsole(server, "/live?open=broadcast");
  await page.shows("takes no streams of web pages");
  const policyOf = async (one: Server): Promise<string> =>
    (await fetch(one.control_url, { headers: { accept: "text/html" } })).headers.get("content-security-policy") ?? "";
  expect(await policyOf(server)).not.toContain("ws:");
  const other = await startServer(["--rtmp-port", "0"]);
  const address = (other.rtmp_url as string).replace("rtmp:", "ws:");
  expect(await policyOf(other)).toContain(`connect-src 'self' ${other.base_url} ${address};`);
});
