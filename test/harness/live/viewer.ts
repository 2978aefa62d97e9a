/** A viewer of a live video: a page that frames the player, and the player's state. */
import { join } from "node:path";
import { afterThisTest } from "../cleanup.ts";
import { openPage, type Page } from "./browser.ts";
import type { LiveServer, Video } from "./live-server.ts";

/** The folder for screenshots of the player, for people who look into a failure. */
const ARTEFACTS = join(import.meta.dir, "../../../test-artefacts");

export const screenshot = (page: Page, name: string): Promise<void> => page.screenshot(join(ARTEFACTS, `${name}.png`));

export interface Playing {
  readonly currentTime: number;
  readonly duration: number | null;
  readonly width: number;
  readonly height: number;
  readonly ended: boolean;
  readonly error: string | null;
}

const PLAYING = `(() => { const v = document.querySelector("video"); return v && {
  currentTime: v.currentTime, duration: Number.isFinite(v.duration) ? v.duration : null,
  width: v.videoWidth, height: v.videoHeight, ended: v.ended, error: v.error && v.error.message }; })()`;

/** Opens a page of another site that frames the players of these videos. */
export async function embed(liveServer: LiveServer, ...ids: readonly string[]): Promise<{ page: Page; player: string }> {
  const frames = await Promise.all(ids.map(async (id) => (await liveServer.graph(`${id}?fields=embed_html`)).embed_html));
  const site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(frames.join("\n"), { headers: { "content-type": "text/html" } }),
  });
  afterThisTest(() => site.stop(true));
  return { page: await openPage(`http://127.0.0.1:${site.port}/`), player: `${liveServer.server.base_url}/player/` };
}

export const playsUntil = (page: Page, player: string, fits: (playing: Playing) => boolean): Promise<Playing> =>
  page.evaluateUntil<Playing | null>(player, PLAYING, (playing) => playing !== null && fits(playing)) as Promise<Playing>;

/** The address of the playlist in the page of the player. */
export async function playlistOf(liveServer: LiveServer, { id }: Pick<Video, "id">): Promise<string> {
  const html = await (await fetch(`${liveServer.server.base_url}/player/${id}`)).text();
  return `${liveServer.server.base_url}/player/${/data-source="([^"]+)"/.exec(html)?.[1]}`;
}
