/** The addresses of listeners, and the errors for options that set an address. */
import { hostnameOf, PageGuard } from "#kernel/page-guard";
import { type Config, ConfigProblem } from "./config.ts";
import { hosts, origins, port, publicUrl } from "./option-readers.ts";
import { readFrom } from "./read-config.ts";

/**
 * The beginning of the message for an unknown host name. Plaza recognizes the error by its message, because Bun gives the error for an unknown host
 * name no code.
 */
const UNKNOWN_HOST = "Failed to listen at ";

/** Reads the value of `--port`. If the port is 0, the system picks a free port. Throws `ConfigProblem`. */
export const portOf = (given: unknown): number => readFrom({ read: port }, given ?? 0, "--port");

interface PagesGiven {
  readonly host?: string;
  readonly allow_origin?: unknown;
  readonly allow_host?: unknown;
  readonly public_url?: unknown;
}

/**
 * Makes the guard that accepts only requests from loopback and from the web pages and hosts that a command's options allow. Throws `ConfigProblem`.
 */
export function pagesOf({ host = "localhost", allow_origin = [], allow_host = [], public_url }: PagesGiven): PageGuard {
  const url = public_url === undefined ? [] : [new URL(readFrom({ read: publicUrl }, public_url, "--public-url")).host];
  return new PageGuard({
    origins: readFrom({ read: origins }, allow_origin, "--allow-origin"),
    hosts: [...readFrom({ read: hosts }, allow_host, "--allow-host"), ...[addressOf(host), ...url].flatMap((name) => hostnameOf(name) ?? [])],
  });
}

/** Calls `listen`, which opens a listener. If the program cannot listen at the address, throws `ConfigProblem` with the name of the option. */
export async function listening<Listener>(option: string, host: string, port: number, listen: () => Listener | Promise<Listener>): Promise<Listener> {
  try {
    return await listen();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const hostOption = option.replace("port", "host");
    if (code === "EADDRINUSE")
      throw new ConfigProblem(option, `${host}:${port} is in use by another program; choose another port, or 0 for a free one`);
    if (code === "EACCES") throw new ConfigProblem(option, `permission to listen at ${host}:${port} is denied`);
    if (code === "EADDRNOTAVAIL") throw new ConfigProblem(hostOption, `this machine does not have the address ${host}`);
    if (code === "ENOTFOUND" || (code === undefined && error instanceof Error && error.message.startsWith(UNKNOWN_HOST)))
      throw new ConfigProblem(hostOption, `the host name ${host} has no address`);
    throw error;
  }
}

/** The address at which a caller on the same machine reaches a listener. */
export function addressOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** The guard against requests of web pages of other sites. The guard is undefined if all pages are allowed. */
export function pageGuardOf({ sandbox, allow_origin, allow_host, host, control_host, public_url, surface_hosts }: Config): PageGuard | undefined {
  if (!sandbox) return undefined;
  const configured = [
    addressOf(host),
    addressOf(control_host),
    ...Object.values(surface_hosts),
    ...(public_url === undefined ? [] : [new URL(public_url).host]),
  ];
  return new PageGuard({ origins: allow_origin, hosts: [...allow_host, ...configured.flatMap((name) => hostnameOf(name) ?? [])] });
}
