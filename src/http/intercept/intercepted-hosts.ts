/**
 * Internet hosts for which a server responds over TLS on loopback. A proxy passes the connections of programs to this local server (D-380).
 */
import type { ServedCertificate } from "#config/certificate";
import type { Config } from "#config/config";
import type { SurfaceAddress } from "../destinations/destinations.ts";

export interface InterceptedHosts {
  readonly surfaces: readonly SurfaceAddress[];
  readonly certificate: ServedCertificate;
}

/**
 * Returns the options of the listener that responds for the intercepted hosts. Links in the listener's responses begin with the name of an
 * intercepted host, whatever the server's own address is.
 */
export function configOfIntercepted(config: Config, { surfaces }: InterceptedHosts): Config {
  const hosts = surfaces.flatMap(({ hostname }) => hostname ?? []);
  return { ...config, host: "127.0.0.1", port: 0, public_url: undefined, hsts_seconds: 0, allow_host: [...config.allow_host, ...hosts] };
}
