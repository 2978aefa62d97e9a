/** Serves `{base_url}/player/…`: the page of the player, the page's library, and the playlists and segments that the player plays (operating.md). */
import { findSegment, openPlayer, type PlaybackRefusal, readPlaylist, type Viewer } from "#features/live-videos";
import type { RequestDeps } from "#graph/pipeline/handle-request";
import { countryOf } from "#graph/schema/formats";
import { unknownPath } from "#kernel/errors";
import { escapedHtml } from "#kernel/text";
import { randomSecret, sleepMs } from "#system";
import { refusal } from "../refusals.ts";
import type { RouteDestination, RouteHandler } from "./extra-routes.ts";

export const PLAYER_PATH = "/player/";

export interface PlayerOptions {
  /** Whether viewers may choose the country from which they watch, as in `?country=DE`. */
  readonly isCountryChosen: boolean;
  /** The name, in lower case, of the header in which a trusted proxy sends the viewer's country. */
  readonly countryHeader: string | undefined;
}

const LIBRARY = "hls.js";
const PLAYLIST = "live.m3u8";
/** The size of the random value that allows the page's own scripts. Each page has a new random value of 96 bits. */
const NONCE_BYTES = 12;

const TEXTS: Readonly<Record<Exclude<PlaybackRefusal, "missing">, string>> = {
  not_in_this_country: "This video is not available in your country.",
  not_on_mobile_web_until_vod: "This video can be watched here once the broadcast is over.",
  starting: "The video begins soon.",
};
const STATUSES: Readonly<Record<Exclude<PlaybackRefusal, "missing">, number>> = {
  not_in_this_country: 403,
  not_on_mobile_web_until_vod: 403,
  starting: 503,
};

/** The headers of every response of the player. No response may be cached, because the permission to watch may end at any time. */
const HEADERS = { "cache-control": "no-store", "referrer-policy": "no-referrer", "x-content-type-options": "nosniff" };

/**
 * The headers of the response with the library hls.js. All versions of the library hls.js have the same address, so browsers request the library
 * again after an hour.
 */
const SCRIPT_HEADERS = { "content-type": "text/javascript; charset=utf-8", "cache-control": "public, max-age=3600" };

export function playerRoute(deps: RequestDeps, options: PlayerOptions): RouteHandler {
  return async (request, destination) => {
    const [id = "", ticket, ...rest] = destination.path.slice(PLAYER_PATH.length).split("/");
    const { world } = destination;
    const viewer = viewerOf(request, destination, options);
    if (id === LIBRARY && ticket === undefined) return libraryResponse();
    if (ticket === undefined) {
      const view = await openPlayer(world, id, viewer);
      if (typeof view === "string") return refused(deps, destination, view);
      return page(200, playerPage(view.title, LIBRARY, `${id}/${view.ticket}/${PLAYLIST}`, randomSecret(NONCE_BYTES)));
    }
    const name = rest.join("/");
    if (name === PLAYLIST) {
      const found = await readPlaylist(world, id, ticket, viewer, sleepMs);
      if (typeof found === "string") return refused(deps, destination, found);
      return new Response(found.playlist, { headers: { ...HEADERS, "content-type": "application/vnd.apple.mpegurl" } });
    }
    const found = await findSegment(world, id, ticket, name, viewer);
    return typeof found === "string" ? refused(deps, destination, found) : segmentResponse(found);
  };
}

const segmentResponse = ({ content, size }: { readonly content: ReadableStream<Uint8Array>; readonly size: number }): Response =>
  new Response(content, { headers: { ...HEADERS, "content-type": "video/mp2t", "content-length": String(size) } });

/**
 * Responds with the library's file, which the server loads when somebody first watches a video. The file is part of the executable, which runs
 * without installed packages.
 */
async function libraryResponse(): Promise<Response> {
  const { default: text } = await import("hls.js/dist/hls.min.js", { with: { type: "text" } });
  return new Response(text, { headers: SCRIPT_HEADERS });
}

function refused(deps: RequestDeps, destination: RouteDestination, reason: PlaybackRefusal): Response {
  if (reason !== "missing") return page(STATUSES[reason], refusalPage(TEXTS[reason]));
  // The response has the same bytes as the response for any path that does not exist, so that nobody learns which videos exist.
  const { status, headers, body } = refusal(deps, destination.world, "base", unknownPath(destination.path), "wrapped");
  return new Response(body, { status, headers: { ...headers, "cache-control": "no-store" } });
}

const page = (status: number, { html, contentSecurityPolicy }: PageResponse): Response =>
  new Response(html, {
    status,
    headers: { ...HEADERS, "content-type": "text/html; charset=utf-8", "content-security-policy": contentSecurityPolicy },
  });

/**
 * Returns the viewer, and the country from which the viewer watches. If the viewer chooses a country, the function ignores a proxy's header with the
 * country.
 */
function viewerOf(request: Request, { isFromProxy }: RouteDestination, options: PlayerOptions): Viewer {
  const { isCountryChosen, countryHeader } = options;
  const chosen = isCountryChosen ? new URL(request.url).searchParams.get("country") : null;
  const named = countryHeader !== undefined && isFromProxy ? request.headers.get(countryHeader) : null;
  const country = chosen ?? named;
  return { country: country === null ? undefined : countryOf(country), isMobileWeb: MOBILE.test(request.headers.get("user-agent") ?? "") };
}

/** LIVE-27: the names by which browsers of phones and tablets identify themselves. */
const MOBILE = /Mobi|Android|iPhone|iPad|iPod/;

/**
 * The page of the player, which `embed_html` shows in a frame. On the page of the player, hls.js plays the recording during the broadcast and
 * afterwards.
 */

const STYLE =
  "html,body{margin:0;height:100%;background:#000;color:#ddd;font:16px system-ui,sans-serif}video{width:100%;height:100%;display:block}" +
  "p{position:absolute;inset:0;display:flex;align-items:center;justify-content:center;margin:1em;text-align:center;pointer-events:none}[hidden]{display:none}";

/**
 * The script of the player's page, which runs in the browser. As long as the video has no segment to play, the playlist's response has the status
 * 503, and hls.js requests the playlist again. The player stays some 2 s behind the newest segment, and plays a little faster if it falls behind.
 */
const SCRIPT = `
const video = document.querySelector("video"), note = document.querySelector("p"), source = video.dataset.source;
const say = (text) => { note.textContent = text; note.hidden = text === ""; };
video.addEventListener("playing", () => say(""));
const again = { maxNumRetry: 100000, retryDelayMs: 500, maxRetryDelayMs: 1000 };
const policy = { default: { maxTimeToFirstByteMs: 10000, maxLoadTimeMs: 20000, timeoutRetry: again, errorRetry: again } };
if (window.Hls && Hls.isSupported()) {
  const hls = new Hls({
    enableWorker: false, liveSyncDuration: 2, liveMaxLatencyDuration: 12, maxLiveSyncPlaybackRate: 1.1, backBufferLength: 60,
    manifestLoadPolicy: policy, playlistLoadPolicy: policy,
  });
  hls.on(Hls.Events.MANIFEST_PARSED, () => void video.play().catch(() => {}));
  hls.on(Hls.Events.ERROR, (_event, { fatal, type, response }) => {
    if (!fatal) return;
    if (type === Hls.ErrorTypes.MEDIA_ERROR) hls.recoverMediaError();
    else if (response && response.code >= 400 && response.code < 500) { hls.destroy(); video.removeAttribute("src"); say("This video is not available."); }
    else hls.startLoad();
  });
  hls.loadSource(source);
  hls.attachMedia(video);
} else if (video.canPlayType("application/vnd.apple.mpegurl")) {
  video.src = source;
} else say("This browser cannot play the video.");
`;

interface PageResponse {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

/** Makes the page of the player. `nonce` is a random value. `library` and `source` are addresses relative to the page. */
function playerPage(title: string | null, library: string, source: string, nonce: string): PageResponse {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapedHtml(title ?? "Live video")}</title><style nonce="${nonce}">${STYLE}</style></head><body>
<video controls muted autoplay playsinline data-source="${escapedHtml(source)}"></video><p>The video begins soon.</p>
<script nonce="${nonce}" src="${escapedHtml(library)}"></script><script nonce="${nonce}">${SCRIPT}</script></body></html>`;
  const sources = ["default-src 'none'", "connect-src 'self'", "media-src 'self' blob:", `script-src 'nonce-${nonce}'`, `style-src 'nonce-${nonce}'`];
  return { html, contentSecurityPolicy: `${sources.join("; ")}; base-uri 'none'; form-action 'none'` };
}

function refusalPage(text: string): PageResponse {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Video</title></head><body><p>${escapedHtml(text)}</p></body></html>`;
  return { html, contentSecurityPolicy: "default-src 'none'; base-uri 'none'; form-action 'none'" };
}
