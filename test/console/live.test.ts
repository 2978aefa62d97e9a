import { expect, test } from "bun:test";
import { join } from "node:path";
import { openConsole } from "#harness/console/console-page";
import { startEncoder } from "#harness/live/encoder";
import { openStudio } from "#harness/live/studio";
import { playsUntil } from "#harness/live/viewer";
import { temporaryFolder } from "#harness/server";

/** A browser that plays, on a small machine. */
const BROWSER_MS_MAX = 120_000;

test(
  "a broadcast is watched in the player, with its health, and ended",
  async () => {
    const studio = await openStudio(join(temporaryFolder(), "data"));
    const { server } = studio;
    const { id, stream_url } = await studio.create({ status: "LIVE_NOW", embeddable: true, title: "From an encoder" });
    startEncoder(stream_url, { size: "640x360", bFrames: 2 });
    await studio.stateWhen(id, ({ feed }) => feed.is_sending);
    const page = await openConsole(server, `/live?video=${id}`);
    const player = `${server.base_url}/player/`;
    const first = await playsUntil(page.page, player, ({ currentTime }) => currentTime > 1);
    expect(first).toMatchObject({ width: 640, height: 360, error: null });
    await playsUntil(page.page, player, ({ currentTime }) => currentTime > first.currentTime + 1);
    await page.shows("From an encoder", "640 × 360 pixels", "Bit rate: ", "Key-frame distance: ", "an encoder began to send → ● live");
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
    expect(await studio.state(id)).toMatchObject({ state: "vod", feed: { is_sending: false } });
    // Until there is something to play, the playlist is a 503.
    expect(page.page.problems.filter((problem) => !problem.includes("503"))).toEqual([]);
  },
  BROWSER_MS_MAX,
);
