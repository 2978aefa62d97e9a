/** Addresses of a live video: for the encoder, and for the player. */
import type { World } from "#graph/worlds/world";

/** The address for an encoder. Only the response that creates it contains it (D-51). */
export interface StreamAddress {
  /** D-115: absent if no encoder can connect. */
  readonly stream_url?: string;
  /** Absent without TLS. */
  readonly secure_stream_url?: string;
  readonly stream_key: string;
}

/** `baseUrl` is that of the request or of `--public-url`; the encoder connects to the same host. */
export function streamAddressOf({ streaming }: Pick<World, "streaming">, baseUrl: string, key: string): StreamAddress {
  const { rtmpPort, rtmpsPort, rtmpUrl } = streaming ?? {};
  const on = (scheme: string, port: number) => `${scheme}://${new URL(baseUrl).hostname}:${port}/live`;
  const server = rtmpUrl ?? (rtmpPort === undefined ? undefined : on("rtmp", rtmpPort));
  // A media server that speaks TLS is named so by its operator.
  const secure = rtmpsPort === undefined ? (rtmpUrl?.startsWith("rtmps:") === true ? rtmpUrl : undefined) : on("rtmps", rtmpsPort);
  return {
    ...(server === undefined ? {} : { stream_url: `${server}/${key}` }),
    ...(secure === undefined ? {} : { secure_stream_url: `${secure}/${key}` }),
    stream_key: key,
  };
}

/** The page in the frame of `embed_html`, also for opening directly. */
export const playerUrl = (baseUrl: string, id: string): string => `${baseUrl}/player/${id}`;

/** LIVE-29: 16x9 until an encoder has sent, then the size of its pictures. */
const WIDTH = 1280;
const HEIGHT = 720;

interface Shown {
  readonly id: string;
  readonly feed_width: number | null;
  readonly feed_height: number | null;
}

const heightOf = ({ feed_width, feed_height }: Shown): number =>
  feed_width === null || feed_height === null ? HEIGHT : Math.max(1, Math.round((WIDTH * feed_height) / feed_width));

/** C2, LIVE-3. */
export const embedHtml = (baseUrl: string, video: Shown): string =>
  `<iframe src="${escaped(playerUrl(baseUrl, video.id))}" width="${WIDTH}" height="${heightOf(video)}" style="border:none;overflow:hidden" scrolling="no" frameborder="0" allow="autoplay; encrypted-media; fullscreen; picture-in-picture" allowfullscreen="true"></iframe>`;

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
