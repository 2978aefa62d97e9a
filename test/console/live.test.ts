import { expect, test } from "bun:test";
import { join } from "node:path";
import { openConsole } from "#harness/console/console-page";
import { openLiveServer } from "#harness/live/live-server";
import { playsUntil } from "#harness/live/viewer";
import { temporaryFolder } from "#harness/server";

/** The time limit of a test in which a browser plays video, on a small machine. */
const BROWSER_MS_MAX = 120_000;

test(
  "the test clip is sent from the console, watched in the player with its health, stopped and ended",
  async () => {
    const liveServer = await openLiveServer(join(temporaryFolder(), "data"));
    const { server } = liveServer;
    const { id } = await liveServer.create({ status: "UNPUBLISHED", embeddable: true, title: "From the server" });
    const page = await openConsole(server, `/live?video=${id}`);
    await page.shows("From the server", "Send a test clip");
    await page.click("Send a test clip");
    await page.shows("sends a test clip", "Stop the test clip");
    await page.click("Publish");
    const player = `${server.base_url}/player/`;
    const first = await playsUntil(page.page, player, ({ currentTime }) => currentTime > 1);
    expect(first).toMatchObject({ width: 640, height: 360, error: null });
    await playsUntil(page.page, player, ({ currentTime }) => currentTime > first.currentTime + 1);
    await page.shows("From the server", "640 × 360 pixels", "Bit rate: ", "Key-frame distance: ", "published → ● live");
    expect(await page.violations()).toEqual([]);
    await page.setTheme("light");
    await page.screenshot("live-broadcast");
    await page.evaluate("document.querySelector('.metric').scrollIntoView()");
    await page.screenshot("live-health");
    await page.click("Stop the test clip");
    await page.shows("the encoder disconnected", "Send a test clip");
    await page.click("■ End the broadcast");
    await page.shows("the broadcast was ended", "the recording is ready → ✓ recording");
    // A browser does not play a video that is scrolled out of sight.
    await page.evaluate("document.querySelector('iframe').scrollIntoView()");
    await playsUntil(page.page, player, ({ ended }) => ended);
    await page.evaluate("document.querySelector('.moves').scrollIntoView()");
    await page.screenshot("live-ended");
    expect(await liveServer.state(id)).toMatchObject({ state: "vod", feed: { is_sending: false } });
    // Until the stream has segments to play, the playlist has status 503.
    expect(page.page.problems.filter((problem) => !problem.includes("503"))).toEqual([]);
  },
  BROWSER_MS_MAX,
);
