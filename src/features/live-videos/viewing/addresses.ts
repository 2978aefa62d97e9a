/** Addresses of a live video: where an encoder sends, and where people watch. */

/** What an encoder is given, once (D-51). */
export interface StreamAddress {
  readonly stream_url: string;
  readonly secure_stream_url: string;
  readonly stream_key: string;
}

/** The ports that encoders use where nothing else is said: RTMP's own, and that of TLS. */
const RTMP_PORT = 1935;
const RTMPS_PORT = 443;

/** `baseUrl`: of the request; an encoder is told the same host. */
export function streamAddressOf(baseUrl: string, key: string): StreamAddress {
  const { hostname } = new URL(baseUrl);
  return {
    stream_url: `rtmp://${hostname}:${RTMP_PORT}/live/${key}`,
    secure_stream_url: `rtmps://${hostname}:${RTMPS_PORT}/live/${key}`,
    stream_key: key,
  };
}

/** What `embed_html` frames; a person opens it as well. */
export const playerUrl = (baseUrl: string, id: string): string => `${baseUrl}/player/${id}`;

/** LIVE-29: 16x9 where the stream has not said otherwise. */
const WIDTH = 1280;
const HEIGHT = 720;

/** C2, LIVE-3. */
export const embedHtml = (baseUrl: string, id: string): string =>
  `<iframe src="${escaped(playerUrl(baseUrl, id))}" width="${WIDTH}" height="${HEIGHT}" style="border:none;overflow:hidden" scrolling="no" frameborder="0" allow="autoplay; encrypted-media; fullscreen; picture-in-picture" allowfullscreen="true"></iframe>`;

/** The host is the caller's own word. */
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** D-51: an address with its key is shown in the response of the very call that made it, and never again. */
const shownOnce = new WeakMap<object, StreamAddress>();

/** `request`: of the call that made it. */
export function showOnce(request: object, address: StreamAddress): StreamAddress {
  shownOnce.set(request, address);
  return address;
}

export const shownTo = (request: object): StreamAddress | undefined => shownOnce.get(request);
