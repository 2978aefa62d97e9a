/** D-353: a port without TLS that redirects every request to the port with TLS. */
import { addressOf } from "#config/listening";
import { hostnameOf } from "#kernel/page-guard";
import type { RequestHead } from "../http1/request-head.ts";
import { defaultLimits, parserHeaderBytesMax } from "../limits.ts";
import { type Listener, listen } from "./listener.ts";

export interface RedirectOptions {
  readonly hostname: string;
  readonly port: number;
  /** Whether several processes listen on the port. */
  readonly reusePort: boolean;
  readonly securePort: number;
  /** The server's address for clients, whatever host the client used, without a slash at its end. */
  readonly publicUrl: string | undefined;
}

/** The default port of https, which is left out of addresses. Addresses contain every port except the default port of https. */
const HTTPS_PORT = 443;

/** Starts to listen. Throws if the listener cannot listen at the address. */
export function serveRedirects(options: RedirectOptions): Listener {
  const { hostname, port, reusePort } = options;
  return listen({
    ...{ hostname, port, reusePort, certificate: undefined, commonHeaders: {}, metrics: { open: 0, evicted: 0 } },
    limits: { ...defaultLimits, headBytesMax: parserHeaderBytesMax(defaultLimits) },
    refusal: () => ({ status: 400, headers: {}, body: "" }),
    dispatch: (head, connection) => {
      connection.send({ status: 308, headers: { location: locationOf(head, options) }, body: "" });
      connection.finish();
    },
  });
}

function locationOf({ host, target }: RequestHead, { hostname, securePort, publicUrl }: RedirectOptions): string {
  const asked = host === undefined ? undefined : hostnameOf(host);
  const own = `https://${asked ?? addressOf(hostname)}${securePort === HTTPS_PORT ? "" : `:${securePort}`}`;
  return `${publicUrl ?? own}${target.path}${target.queryText === "" ? "" : `?${target.queryText}`}`;
}
