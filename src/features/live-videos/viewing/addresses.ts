/** Makes the addresses of a live video: the address for its encoder, and the address of its player. */
import type { World } from "#graph/worlds/world";
import { escapedHtml } from "#kernel/text";

/** The address to which an encoder sends. Only the response to the request that creates the stream key contains this address (D-51). */
export interface StreamAddress {
  /** D-115: the address without TLS; absent if encoders cannot connect. */
  readonly stream_url?: string;
  /** The address with TLS; absent if encoders cannot connect with TLS. */
  readonly secure_stream_url?: string;
  readonly stream_key: string;
}

/**
 * Returns the address to which an encoder sends. `baseUrl` is the address of the request, or `--public-url`; the encoder connects to the same host.
 */
export function streamAddressOf({ streaming }: Pick<World, "streaming">, baseUrl: string, key: string): StreamAddress {
  const { rtmpPort, rtmpsPort, rtmpUrl } = streaming ?? {};
  const on = (scheme: string, port: number) => `${scheme}://${new URL(baseUrl).hostname}:${port}/live`;
  const server = rtmpUrl ?? (rtmpPort === undefined ? undefined : on("rtmp", rtmpPort));
  // The scheme of `--rtmp-url` says whether the media server uses TLS.
  const secure = rtmpsPort === undefined ? (rtmpUrl?.startsWith("rtmps:") === true ? rtmpUrl : undefined) : on("rtmps", rtmpsPort);
  return {
    ...(server === undefined ? {} : { stream_url: `${server}/${key}` }),
    ...(secure === undefined ? {} : { secure_stream_url: `${secure}/${key}` }),
    stream_key: key,
  };
}

/** Returns the address of the player's page. The frame in `embed_html` shows the player's page, and people can also open this page directly. */
export const playerUrl = (baseUrl: string, id: string): string => `${baseUrl}/player/${id}`;

/**
 * LIVE-29: the size of the player is 16x9 until an encoder has sent pictures. After the first pictures, the height of the player follows from the
 * shape of the pictures.
 */
const WIDTH = 1280;
const HEIGHT = 720;

interface Shown {
  readonly id: string;
  readonly feed_width: number | null;
  readonly feed_height: number | null;
}

const heightOf = ({ feed_width, feed_height }: Shown): number =>
  feed_width === null || feed_height === null ? HEIGHT : Math.max(1, Math.round((WIDTH * feed_height) / feed_width));

/** C2, LIVE-3: returns the HTML that embeds the player. */
export const embedHtml = (baseUrl: string, video: Shown): string =>
  `<iframe src="${escapedHtml(playerUrl(baseUrl, video.id))}" width="${WIDTH}" height="${heightOf(video)}" style="border:none;overflow:hidden" scrolling="no" frameborder="0" allow="autoplay; encrypted-media; fullscreen; picture-in-picture" allowfullscreen="true"></iframe>`;

/** D-51: the stream addresses that responses contain, by request. This map has entries only for requests that created a stream key. */
const shownOnce = new WeakMap<object, StreamAddress>();

/** Stores the address for the response to `request`, which is the request that created the stream key. */
export function showOnce(request: object, address: StreamAddress): StreamAddress {
  shownOnce.set(request, address);
  return address;
}

export const shownTo = (request: object): StreamAddress | undefined => shownOnce.get(request);
