/** `plaza record`: a proxy in front of a server that writes what passes into a file, without secrets. */
import { isUtf8 } from "node:buffer";
import { type Exchange, recordingProxy } from "#http/commands/recording-proxy";
import { HIDDEN } from "#kernel/redaction/redaction";
import { version } from "#package.json";
import { nextSignal } from "../process-end.ts";
import { type HarEntry, HarFile, type PostData } from "./har.ts";
import { isMultipart } from "./multipart.ts";
import { headersWithoutSecrets, SecretNames, secretPlaces, withoutSecrets } from "./secrets.ts";

type Given = Readonly<Record<string, unknown>>;

const WRONG_USE = 2;
/** A recording that nobody ends leaves room on the disk. Requests are passed on beyond it. */
const FILE_BYTES_MAX = 1024 * 1024 * 1024;

/** Resolves with the exit code after a signal. */
export async function record({ upstream, out, host = "127.0.0.1", port = "0" }: Given): Promise<number> {
  if (!/^https?:\/\//.test(String(upstream)) || !URL.canParse(String(upstream))) return refuse(`--upstream: "${upstream}" is not an http address`);
  const address = new URL(String(upstream));
  const base = address.href.replace(/\/$/, "");
  let file: HarFile;
  try {
    file = new HarFile(String(out), version, base);
  } catch (error) {
    return refuse(`--out: ${error instanceof Error ? error.message : error}`);
  }
  const names = new SecretNames();
  let isFull = false;
  const note = (exchange: Exchange): void => {
    if (isFull) return;
    file.add(entryOf(exchange, base, names));
    isFull = file.size > FILE_BYTES_MAX;
    if (isFull) process.stderr.write(`plaza: ${out} has ${file.size} bytes; nothing more is recorded\n`);
  };
  const proxy = await recordingProxy(String(host), Number(port), address, note);
  process.stdout.write(`recording requests to http://${host}:${proxy.port} for ${base} in ${out}; Ctrl-C ends it\n`);
  await nextSignal();
  await proxy.stop();
  file.close();
  return 0;
}

function refuse(message: string): number {
  process.stderr.write(`plaza: ${message}\n`);
  return WRONG_USE;
}

const pairsOf = (pairs: readonly (readonly [string, string])[]) => pairs.map(([name, value]) => ({ name, value }));

/** Nobody knows what is in bytes that are neither text nor parts, so nothing is kept of them. */
function bodyOf({ requestBody, requestHeaders }: Exchange): string {
  if (isMultipart(requestHeaders)) return requestBody.toString("latin1");
  return isUtf8(requestBody) ? requestBody.toString() : HIDDEN;
}

function postTextOf(body: string, headers: Exchange["requestHeaders"]): Pick<PostData, "text" | "_encoding"> {
  const bytes = Buffer.from(body, isMultipart(headers) ? "latin1" : "utf8");
  return isUtf8(bytes) ? { text: bytes.toString() } : { text: bytes.toString("base64"), _encoding: "base64" };
}

/** With everything that HAR demands, so that other programs read it. */
function entryOf(exchange: Exchange, base: string, names: SecretNames): HarEntry {
  const given = { target: exchange.target, headers: exchange.requestHeaders, body: bodyOf(exchange) };
  const places = secretPlaces(given, names);
  const { target, headers, body } = withoutSecrets(given);
  const headerOf = (pairs: Exchange["requestHeaders"], name: string) => pairs.find(([one]) => one.toLowerCase() === name)?.[1] ?? "";
  const text = withoutSecrets({ target: "", headers: [], body: exchange.responseBody.toString() }).body;
  const common = { httpVersion: "HTTP/1.1", cookies: [], headersSize: -1, bodySize: -1 };
  const request = {
    ...{ method: exchange.method, url: `${base}${target}`, headers: pairsOf(headers), ...common },
    queryString: pairsOf([...new URLSearchParams(target.split("?")[1] ?? "")]),
    ...(body === "" ? {} : { postData: { mimeType: headerOf(headers, "content-type"), ...postTextOf(body, headers) } }),
  };
  const response = {
    ...{ status: exchange.status, statusText: "", headers: pairsOf(headersWithoutSecrets(exchange.responseHeaders)), ...common },
    redirectURL: "",
    content: { size: exchange.responseBody.length, mimeType: headerOf(exchange.responseHeaders, "content-type"), text },
  };
  const timing = { startedDateTime: new Date(exchange.startedMs).toISOString(), time: exchange.durationMs };
  const unused = { cache: {}, timings: { send: 0, wait: exchange.durationMs, receive: 0 } };
  return { ...timing, ...unused, request, response, ...(places.length === 0 ? {} : { _secrets: places }) };
}
