/** Addresses of a live video: for the encoder, and for the player. */

/** The address for an encoder. Only the response that creates it contains it (D-51). */
export interface StreamAddress {
  readonly stream_url: string;
  readonly secure_stream_url: string;
  readonly stream_key: string;
}

/** The default ports of encoders: RTMP's own, and that of TLS. */
const RTMP_PORT = 1935;
const RTMPS_PORT = 443;

/** `baseUrl` is that of the request or of `--public-url`; the encoder connects to the same host. */
export function streamAddressOf(baseUrl: string, key: string): StreamAddress {
  const { hostname } = new URL(baseUrl);
  return {
    stream_url: `rtmp://${hostname}:${RTMP_PORT}/live/${key}`,
    secure_stream_url: `rtmps://${hostname}:${RTMPS_PORT}/live/${key}`,
    stream_key: key,
  };
}

/** The page in the frame of `embed_html`, also for opening directly. */
export const playerUrl = (baseUrl: string, id: string): string => `${baseUrl}/player/${id}`;

/** LIVE-29: 16x9 by default. */
const WIDTH = 1280;
const HEIGHT = 720;

/** C2, LIVE-3. */
export const embedHtml = (baseUrl: string, id: string): string =>
  `<iframe src="${escaped(playerUrl(baseUrl, id))}" width="${WIDTH}" height="${HEIGHT}" style="border:none;overflow:hidden" scrolling="no" frameborder="0" allow="autoplay; encrypted-media; fullscreen; picture-in-picture" allowfullscreen="true"></iframe>`;

/** Escapes the address, because the host comes from the request. */
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** D-51: only the response to the request that created a key contains its address. */
const shownOnce = new WeakMap<object, StreamAddress>();

/** `request` is the request that created the key. */
export function showOnce(request: object, address: StreamAddress): StreamAddress {
  shownOnce.set(request, address);
  return address;
}

export const shownTo = (request: object): StreamAddress | undefined => shownOnce.get(request);
