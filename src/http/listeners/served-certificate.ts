/** The TLS certificate of the graph and of the control API. The server loads the certificate again when the certificate's files change. */
import { Certificate } from "#config/certificate";
import type { Config } from "#config/config";
import type { Log } from "#telemetry/log";

/** D-353: returns the header that tells browsers to use only TLS. The graph and the control API send this header, Strict-Transport-Security. */
export const hstsHeaders = (seconds: number): Readonly<Record<string, string>> =>
  seconds === 0 ? {} : { "strict-transport-security": `max-age=${seconds}` };

/** Returns the certificate of the configuration, or undefined if the server is configured without TLS. */
export function certificateOf({ tls_cert, tls_key }: Config, log: Log): Certificate | undefined {
  if (tls_cert === undefined || tls_key === undefined) return undefined;
  const certificate = new Certificate(tls_cert, tls_key);
  certificate.follow({
    renewed: (valid_to) => log.info({ valid_to }, "the certificate was renewed"),
    unusable: (problem) => log.warn({ problem }, "the renewed certificate cannot be used, so the previous one stays in use"),
  });
  return certificate;
}
