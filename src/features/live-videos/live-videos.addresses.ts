/** Addresses of a live video: where an encoder sends, and where people watch. */
import { findSetting, saveSetting } from "#graph/settings.store";
import type { Reader, Transaction } from "#storage/database";

export interface IngestAddress {
  /** Without the key, e.g. `rtmp://live.example:1935/live`. */
  readonly rtmp_url: string;
  readonly rtmps_url?: string;
}

/** What an encoder is given, once (D-51). */
export interface StreamAddress {
  readonly stream_url: string;
  readonly secure_stream_url?: string;
  readonly stream_key: string;
}

const SETTING = "live_ingest";
/** The ports that encoders use where nothing else is said: RTMP's own, and that of TLS. */
const RTMP_PORT = 1935;
const RTMPS_PORT = 443;

/** Said by the ingest when it listens, so that every process of the world gives the same address. */
export const saveIngestAddress = (tx: Transaction, address: IngestAddress): Promise<void> => saveSetting(tx, SETTING, JSON.stringify(address));

/** `baseUrl`: of the call; its host stands in where no ingest has said where it listens. */
export async function streamAddressOf(reader: Reader, baseUrl: string, key: string): Promise<StreamAddress> {
  const { rtmp_url, rtmps_url } = await ingestAddressOf(reader, baseUrl);
  return { stream_url: `${rtmp_url}/${key}`, ...(rtmps_url === undefined ? {} : { secure_stream_url: `${rtmps_url}/${key}` }), stream_key: key };
}

async function ingestAddressOf(reader: Reader, baseUrl: string): Promise<IngestAddress> {
  const said = await findSetting(reader, SETTING);
  if (said !== undefined) return JSON.parse(said) as IngestAddress;
  const { hostname } = new URL(baseUrl);
  return { rtmp_url: `rtmp://${hostname}:${RTMP_PORT}/live`, rtmps_url: `rtmps://${hostname}:${RTMPS_PORT}/live` };
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

/** D-51: an address with its key is shown in the answer of the very call that made it, and never again. */
const shownOnce = new WeakMap<object, StreamAddress>();

/** `request`: of the call that made it. */
export function showOnce(request: object, address: StreamAddress): StreamAddress {
  shownOnce.set(request, address);
  return address;
}

export const shownTo = (request: object): StreamAddress | undefined => shownOnce.get(request);
