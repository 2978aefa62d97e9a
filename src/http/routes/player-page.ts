/** The page in the frame of `embed_html`: hls.js plays the recording, live and afterwards. */

const STYLE =
  "html,body{margin:0;height:100%;background:#000;color:#ddd;font:16px system-ui,sans-serif}video{width:100%;height:100%;display:block}" +
  "p{position:absolute;inset:0;display:flex;align-items:center;justify-content:center;margin:1em;text-align:center;pointer-events:none}[hidden]{display:none}";

/**
 * Runs in the browser. Until there is something to play the playlist has the status 503, and hls.js asks again. It stays some 2 s
 * behind the newest segment and plays a little faster when it falls behind.
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

export interface PageResponse {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

/** `nonce` is random. `library` and `source` are addresses relative to the page. */
export function playerPage(title: string | null, library: string, source: string, nonce: string): PageResponse {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(title ?? "Live video")}</title><style nonce="${nonce}">${STYLE}</style></head><body>
<video controls muted autoplay playsinline data-source="${escaped(source)}"></video><p>The video begins soon.</p>
<script nonce="${nonce}" src="${escaped(library)}"></script><script nonce="${nonce}">${SCRIPT}</script></body></html>`;
  const sources = ["default-src 'none'", "connect-src 'self'", "media-src 'self' blob:", `script-src 'nonce-${nonce}'`, `style-src 'nonce-${nonce}'`];
  return { html, contentSecurityPolicy: `${sources.join("; ")}; base-uri 'none'; form-action 'none'` };
}

export function refusalPage(text: string): PageResponse {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Video</title></head><body><p>${escaped(text)}</p></body></html>`;
  return { html, contentSecurityPolicy: "default-src 'none'; base-uri 'none'; form-action 'none'" };
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
