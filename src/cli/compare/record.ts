/** `plaza record`: a proxy in front of a server. The proxy writes the requests and responses into a file, without secrets. */
import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { ConfigProblem } from "#config/config";
import { addressOf, listening, pagesOf, portOf } from "#config/listening";
import { BODY_BYTES_MAX } from "#http/commands/command-server";
import { type Exchange, recordingProxy } from "#http/commands/recording-proxy";
import { HIDDEN } from "#kernel/redaction/redaction";
import { version } from "#package.json";
import type { Given } from "../control-client.ts";
import { exitCodeOf, nextSignal } from "../process-end.ts";
import { note, say } from "../terminal/output.ts";
import { type HarEntry, HarFile } from "./har.ts";
import { isMultipart } from "./multipart.ts";
import { headersWithoutSecrets, SecretNames, secretPlaces, withoutSecrets } from "./secrets.ts";
import { httpAddress } from "./servers.ts";

/**
 * The largest recording, so that a forgotten recording does not fill the disk. When the file has this size, the proxy passes further
 * requests on but does not record them.
 */
const FILE_BYTES_MAX = 1024 * 1024 * 1024;

/** Records requests until a signal ends the command. Resolves with the exit code, which is 2 if an option is wrong. */
export function record({ upstream, out, host: givenHost = "127.0.0.1", port: givenPort, allow_origin, allow_host }: Given): Promise<number> {
  return exitCodeOf(async () => {
    const address = httpAddress("--upstream", upstream);
    const base = address.href.replace(/\/$/, "");
    const [host, port] = [String(givenHost), portOf(givenPort)];
    const pages = pagesOf({ host, allow_origin, allow_host });
    let recording: Recording | undefined;
    // The port is opened before the file: if another recording uses the port, the command fails before it overwrites the other recording's file.
    const proxy = await listening("--port", host, port, () =>
      recordingProxy({ host, port, pages, upstream: address, note: (one) => recording?.add(one) }),
    );
    try {
      recording = new Recording(String(out), base);
    } catch (error) {
      await proxy.stop(0);
      throw error;
    }
    const own = `http://${addressOf(host)}:${proxy.port}`;
    say(`Plaza records into ${out}. Let your app use the address ${own} in place of ${base}; Ctrl-C ends the recording.`);
    await nextSignal();
    await proxy.stop(0);
    recording.close();
    say(`${recording.count} requests are in ${out}`);
    return 0;
  });
}

/** The file of the recording. When the file has reached its largest size, further requests are not recorded. */
class Recording {
  readonly #file: HarFile;
  readonly #names = new SecretNames();
  readonly #path: string;
  readonly #base: string;
  #isFull = false;
  count = 0;

  constructor(path: string, base: string) {
    this.#path = path;
    this.#base = base;
    try {
      this.#file = new HarFile(path, version, base);
    } catch (error) {
      throw new ConfigProblem("--out", error instanceof Error ? error.message : String(error));
    }
  }

  add(exchange: Exchange): void {
    if (this.#isFull) return;
    this.#file.add(entryOf(unpacked(exchange), this.#base, this.#names));
    this.count++;
    this.#isFull = this.#file.size > FILE_BYTES_MAX;
    if (this.#isFull) note(`plaza: ${this.#path} has ${this.#file.size} bytes; further requests are not recorded`);
  }

  close(): void {
    this.#file.close();
  }
}

const pairsOf = (pairs: readonly (readonly [string, string])[]) => pairs.map(([name, value]) => ({ name, value }));

/** D-320: a body that a mobile library compressed with gzip is recorded as text, because secrets in a compressed body cannot be found. */
function unpacked(exchange: Exchange): Exchange {
  const { requestHeaders, requestBody } = exchange;
  const isEncoding = ([name]: readonly [string, string]): boolean => name.toLowerCase() === "content-encoding";
  if (!/^(x-)?gzip$/i.test(requestHeaders.find(isEncoding)?.[1] ?? "")) return exchange;
  try {
    const body = gunzipSync(requestBody, { maxOutputLength: BODY_BYTES_MAX });
    return { ...exchange, requestBody: body, requestHeaders: requestHeaders.filter((header) => !isEncoding(header)) };
  } catch {
    // A body that cannot be uncompressed is recorded unchanged, because the server refuses such a request anyway.
    return exchange;
  }
}

/**
 * Returns the request body in the form in which it is recorded. A body that is neither text nor multipart is left out, because
 * its bytes may contain secrets.
 */
function bodyOf({ requestBody, requestHeaders }: Exchange): string {
  if (isMultipart(requestHeaders)) return requestBody.toString("latin1");
  return isUtf8(requestBody) ? requestBody.toString() : HIDDEN;
}

function postTextOf(body: string, headers: Exchange["requestHeaders"]): { text: string; _encoding?: "base64" } {
  const bytes = Buffer.from(body, isMultipart(headers) ? "latin1" : "utf8");
  return isUtf8(bytes) ? { text: bytes.toString() } : { text: bytes.toString("base64"), _encoding: "base64" };
}

/** Makes an entry with all fields that HAR requires, so that other programs can read the file. */
function entryOf(exchange: Exchange, base: string, names: SecretNames): HarEntry {
  const given = { target: exchange.target, headers: exchange.requestHeaders, body: bodyOf(exchange) };
  const places = secretPlaces(given, names);
  const { target, headers, body } = withoutSecrets(given, names.hide);
  const headerOf = (pairs: Exchange["requestHeaders"], name: string) => pairs.find(([one]) => one.toLowerCase() === name)?.[1] ?? "";
  const text = withoutSecrets({ target: "", headers: [], body: exchange.responseBody.toString() }, names.hide).body;
  const common = { httpVersion: "HTTP/1.1", cookies: [], headersSize: -1, bodySize: -1 };
  const request = {
    ...{ method: exchange.method, url: `${base}${target}`, headers: pairsOf(headers), ...common },
    queryString: pairsOf([...new URLSearchParams(target.split("?")[1] ?? "")]),
    ...(body === "" ? {} : { postData: { mimeType: headerOf(headers, "content-type"), ...postTextOf(body, headers) } }),
  };
  const response = {
    ...{ status: exchange.status, statusText: "", headers: pairsOf(headersWithoutSecrets(exchange.responseHeaders, names.hide)), ...common },
    redirectURL: "",
    content: { size: exchange.responseBody.length, mimeType: headerOf(exchange.responseHeaders, "content-type"), text },
  };
  const timing = { startedDateTime: new Date(exchange.startedMs).toISOString(), time: exchange.durationMs };
  const unused = { cache: {}, timings: { send: 0, wait: exchange.durationMs, receive: 0 } };
  return { ...timing, ...unused, request, response, ...(places.length === 0 ? {} : { _secrets: places }) };
}
