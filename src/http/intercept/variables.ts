/** Makes the environment variables by which programs in different languages find the proxy and trust this run's authority. */
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { variableOf } from "#config/option";
import preload from "./preload.cjs" with { type: "text" };
import { JAVA_STORE_PASSWORD, TrustedRoots } from "./trusted-roots.ts";

export interface InterceptedBy {
  /** A folder of this run, into which the certificate files are written. */
  readonly folder: string;
  /** The certificate of this run's authority in PEM. */
  readonly authority: string;
  readonly hostnames: readonly string[];
  /** The port on which Plaza serves the named hosts. */
  readonly port: number;
  readonly proxyPort: number;
  readonly isOnly: boolean;
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The value of `NO_PROXY` for the command. The user's own `NO_PROXY` is not passed to the command, because the command could then bypass the proxy
 * for a named host; the proxy itself reads the user's value.
 */
const LOOPBACK = "localhost,127.0.0.1,::1,.localhost";

/** The environment variables that replace the root certificates of a program. */
const REPLACING = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];
/** The environment variables that add root certificates to those of a program. */
const ADDING = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"];

/**
 * Writes the certificate files, and returns the environment variables for the command. `given` are the user's own variables; the returned values of
 * some variables begin with the value that the user has set.
 */
export function interceptionVariables(by: InterceptedBy, given: Variables): Record<string, string> {
  const roots = new TrustedRoots(by.folder, by.authority);
  const proxy = `http://127.0.0.1:${by.proxyPort}`;
  const proxies = ["HTTPS_PROXY", "HTTP_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  return {
    ...Object.fromEntries(proxies.map((name) => [name, proxy])),
    ...{ NO_PROXY: LOOPBACK, no_proxy: LOOPBACK },
    ...Object.fromEntries(REPLACING.map((name) => [name, roots.replacing(given[name])])),
    ...Object.fromEntries(ADDING.map((name) => [name, roots.adding(given[name])])),
    NODE_OPTIONS: appended(given.NODE_OPTIONS, `--require ${quoted(preloadFile(by))}`),
    JAVA_TOOL_OPTIONS: appended(given.JAVA_TOOL_OPTIONS, javaOptions(by.proxyPort, roots.forJava()).join(" ")),
    PHP_INI_SCAN_DIR: `${given.PHP_INI_SCAN_DIR ?? ""}${delimiter}${phpFolder(by.folder, roots.replacing(given.SSL_CERT_FILE))}`,
    // People use the variables for the proxy's address and the certificate file to configure programs that do not read the other variables, such as
    // browsers.
    [variableOf("proxy_url")]: proxy,
    [variableOf("ca_file")]: roots.adding(undefined),
  };
}

const appended = (own: string | undefined, further: string): string => (own === undefined || own === "" ? further : `${own} ${further}`);

/** In `NODE_OPTIONS` a path with blanks is quoted as in JSON. */
const quoted = (path: string): string => (/[\s"\\]/.test(path) ? JSON.stringify(path) : path);

function preloadFile({ folder, authority, hostnames, port, proxyPort, isOnly }: InterceptedBy): string {
  const path = join(folder, "preload.cjs");
  const settings = JSON.stringify({ hosts: hostnames, authority, port, proxyPort, isOnly });
  writeFileSync(
    path,
    preload.replace("/* SETTINGS */ null", () => settings),
  );
  return path;
}

const javaOptions = (port: number, store: string): string[] => [
  ...["http", "https"].flatMap((scheme) => [`-D${scheme}.proxyHost=127.0.0.1`, `-D${scheme}.proxyPort=${port}`]),
  "-Dhttp.nonProxyHosts=localhost|127.*|[::1]|*.localhost",
  ...[`-Djavax.net.ssl.trustStore=${store}`, "-Djavax.net.ssl.trustStoreType=JKS", `-Djavax.net.ssl.trustStorePassword=${JAVA_STORE_PASSWORD}`],
];

/**
 * Writes a folder with settings for PHP. The caller appends the folder to the user's value of `PHP_INI_SCAN_DIR`; if that value is empty, the empty
 * entry means PHP's own folder.
 */
function phpFolder(folder: string, file: string): string {
  const path = join(folder, "php");
  mkdirSync(path);
  writeFileSync(join(path, "plaza.ini"), `curl.cainfo = "${file}"\nopenssl.cafile = "${file}"\n`);
  return path;
}
