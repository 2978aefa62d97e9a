/** Reads the head of a request to a proxy, which is `CONNECT host:port`, or a request with an absolute address. */

/** The maximum number of bytes in the head of a request to the proxy. Common proxies accept heads of 8 to 64 KiB. */
const HEAD_BYTES_MAX = 16_384;

export interface ProxyTarget {
  /** The host name in lower case, without brackets and without a dot at the end. */
  readonly hostname: string;
  readonly port: number;
}

export interface ProxyHead extends ProxyTarget {
  readonly isTunnel: boolean;
  /** Whether the address begins with https. Some libraries send https addresses to a proxy without a tunnel. */
  readonly isSecure: boolean;
  readonly method: string;
  /** The path of a request with an absolute address; empty for a tunnel. */
  readonly path: string;
  /** The header lines as the client sent them. */
  readonly headers: readonly string[];
  /** The bytes that arrived after the head. */
  readonly rest: Buffer;
}

/** Reads a head. Returns undefined if more bytes are needed, and an error message if the bytes are not a request to a proxy. */
export function readProxyHead(bytes: Buffer): ProxyHead | string | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return bytes.length > HEAD_BYTES_MAX ? `The head of the request is longer than ${HEAD_BYTES_MAX} bytes` : undefined;
  if (end > HEAD_BYTES_MAX) return `The head of the request is longer than ${HEAD_BYTES_MAX} bytes`;
  const [line = "", ...headers] = bytes.toString("latin1", 0, end).split("\r\n");
  const [method = "", address = "", protocol = "", ...more] = line.split(" ");
  if (more.length > 0 || !/^HTTP\/1\.[01]$/.test(protocol) || !/^[A-Z]+$/.test(method)) return "The request is not HTTP/1.1";
  const isTunnel = method === "CONNECT";
  const url = URL.parse(isTunnel ? `tunnel://${address}` : address);
  if (url === null || url.hostname === "" || !(isTunnel || /^https?:$/.test(url.protocol)))
    return "This is a proxy: send CONNECT host:port, or a request with an address that begins with http:// or https://";
  const isSecure = url.protocol === "https:";
  const port = url.port === "" ? (isSecure ? HTTPS_PORT : HTTP_PORT) : Number(url.port);
  if (isTunnel && (url.port === "" || `${url.pathname}${url.search}${url.hash}${url.username}` !== "")) return "CONNECT needs a host and a port";
  const path = isTunnel ? "" : `${url.pathname}${url.search}`;
  return { hostname: hostnameOf(url), port, isTunnel, isSecure, method, path, headers, rest: bytes.subarray(end + 4) };
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

const hostnameOf = ({ hostname }: URL): string =>
  hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");

/** The names, in lower case, of headers that are only for the proxy (RFC 9110, 7.6.1). */
const FOR_PROXY = ["connection", "keep-alive", "proxy-connection", "proxy-authorization"];

/**
 * Returns the head of a request with an absolute address, for the next server. The head says that the connection ends after the response, so the
 * proxy does not have to parse the bytes after the head.
 */
export function forwardedHead({ method, headers }: ProxyHead, address: string, further: readonly string[] = []): string {
  const kept = headers.filter((line) => !FOR_PROXY.includes(line.slice(0, line.indexOf(":")).toLowerCase()));
  return `${[`${method} ${address} HTTP/1.1`, ...kept, ...further, "Connection: close"].join("\r\n")}\r\n\r\n`;
}
