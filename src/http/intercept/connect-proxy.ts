/**
 * A proxy on the loopback interface that serves one command (D-380). If a tunnel leads to one of the named hosts, the proxy connects the tunnel with
 * the port of Plaza that has the certificate for this host. Tunnels to other hosts are passed on unread, or refused. The proxy never sees the
 * decrypted content of a tunnel.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { forwardedHead, type ProxyHead, readProxyHead } from "./proxy-head.ts";
import { TriedHosts } from "./tried-hosts.ts";
import { isLocal, type UpstreamProxies, type UpstreamProxy } from "./upstream-proxies.ts";

export interface ConnectProxyOptions {
  /** The host names for which Plaza responds, in lower case. */
  readonly hostnames: ReadonlySet<string>;
  /** The port on loopback on which Plaza serves the named hosts over TLS. */
  readonly port: number;
  /** The certificate of the authority that signed the hosts' certificate, in PEM. */
  readonly authority: string;
  /** Whether the proxy refuses all hosts that are not named, except addresses of this machine. */
  readonly isOnly: boolean;
  readonly upstream: UpstreamProxies;
}

export interface ConnectProxy {
  readonly port: number;
  /** The hosts that the proxy refused. */
  readonly tried: TriedHosts;
  stop(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
/** The maximum number of connections that one command may have to the proxy. Test suites open some hundred connections. */
const CONNECTIONS_MAX = 1_024;
/** The time limit for the head of a request to the proxy, which is also the limit for requests to the graph. */
const HEAD_MS_MAX = 10_000;
/** The time in which the proxy must have connected to another server. Operating systems try to connect for one to two minutes. */
const CONNECT_MS_MAX = 30_000;
/** The proxy ends a tunnel that has carried no bytes for this time. Web sockets and long polls are silent for some minutes. */
const IDLE_MS_MAX = 3_600_000;

export async function startConnectProxy(options: ConnectProxyOptions): Promise<ConnectProxy> {
  const tried = new TriedHosts();
  const open = new Set<Socket>();
  const follow = (socket: Socket): void => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    // After an error Node closes the socket, and the close event ends the other side of the tunnel.
    socket.on("error", () => {});
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    follow(client);
    serve(client, options, tried, follow);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, LOOPBACK, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    tried,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

function serve(client: Socket, options: ConnectProxyOptions, tried: TriedHosts, follow: (socket: Socket) => void): void {
  let received = Buffer.alloc(0);
  client.setTimeout(HEAD_MS_MAX, () => client.destroy());
  const take = (bytes: Buffer): void => {
    received = Buffer.concat([received, bytes]);
    const head = readProxyHead(received);
    if (head === undefined) return;
    client.off("data", take);
    client.pause();
    if (typeof head === "string") refuse(client, "400 Bad Request", head);
    else if (options.hostnames.has(head.hostname)) joinPlaza(client, head, options, follow);
    else if (options.isOnly && !isLocal(head.hostname)) {
      tried.add(`${head.hostname}:${head.port}`);
      refuse(client, "403 Forbidden", `plaza: --only refuses ${head.hostname}, because --as does not name it`);
    } else joinOther(client, head, options.upstream.of(head, head.isTunnel), follow);
  };
  client.on("data", take);
}

function joinPlaza(client: Socket, head: ProxyHead, { port, authority }: ConnectProxyOptions, follow: (socket: Socket) => void): void {
  if (head.isTunnel) {
    const server = connect(port, LOOPBACK);
    follow(server);
    join(client, server, "connect", () => client.write(ESTABLISHED), head.rest);
  } else if (head.isSecure) {
    const server = connectSecurely({ host: LOOPBACK, port, servername: head.hostname, ca: authority });
    follow(server);
    join(client, server, "secureConnect", () => server.write(forwardedHead(head, head.path)), head.rest);
  } else refuse(client, "308 Permanent Redirect", "This host is served over https", [`Location: https://${head.hostname}${head.path}`]);
}

const ESTABLISHED = "HTTP/1.1 200 Connection Established\r\n\r\n";

function joinOther(client: Socket, head: ProxyHead, upstream: UpstreamProxy | undefined, follow: (socket: Socket) => void): void {
  const { hostname, port } = upstream ?? head;
  const isSecure = (upstream ?? head).isSecure;
  const server = isSecure ? connectSecurely({ host: hostname, port, servername: hostname }) : connect(port, hostname);
  follow(server);
  const host = `${head.hostname.includes(":") ? `[${head.hostname}]` : head.hostname}:${head.port}`;
  const begin = (): void => {
    if (!head.isTunnel) {
      server.write(
        forwardedHead(head, upstream === undefined ? head.path : `http${head.isSecure ? "s" : ""}://${host}${head.path}`, upstream?.authorization),
      );
    } else if (upstream === undefined) client.write(ESTABLISHED);
    // The upstream proxy's response is passed to the client unchanged.
    else server.write(`${[`CONNECT ${host} HTTP/1.1`, `Host: ${host}`, ...upstream.authorization].join("\r\n")}\r\n\r\n`);
  };
  join(client, server, isSecure ? "secureConnect" : "connect", begin, head.rest);
}

/**
 * After `server` is connected, passes bytes between the client and the server in both directions. When one side of the tunnel ends, the function ends
 * the other side too.
 */
function join(client: Socket, server: Socket, connected: "connect" | "secureConnect", begin: () => void, rest: Buffer): void {
  let isConnected = false;
  server.setTimeout(CONNECT_MS_MAX, () => server.destroy());
  server.once(connected, () => {
    isConnected = true;
    for (const socket of [client, server]) {
      socket.setTimeout(IDLE_MS_MAX, () => socket.destroy());
      socket.setNoDelay(true);
    }
    begin();
    if (rest.length > 0) server.write(rest);
    client.pipe(server);
    server.pipe(client);
  });
  server.on("close", () => {
    if (isConnected) client.destroySoon();
    else refuse(client, "502 Bad Gateway", "plaza: the host cannot be reached");
  });
  client.on("close", () => server.destroy());
}

function refuse(client: Socket, status: string, message: string, headers: readonly string[] = []): void {
  const lines = [`HTTP/1.1 ${status}`, ...headers, "Content-Type: text/plain", `Content-Length: ${message.length + 1}`, "Connection: close"];
  client.end(`${lines.join("\r\n")}\r\n\r\n${message}\n`);
  // The proxy reads and drops bytes that the client still sends, so that the client can read the response.
  client.resume();
}
