/**
 * The options `--as` and `--only` of `plaza exec` and `plaza intercept`: Plaza answers in place of internet hosts for the programs of one run
 * (D-380).
 */
import { ConfigProblem } from "#config/config";
import { variableOf } from "#config/option";
import type { ConfigFile, Values } from "#config/read-config";
import { type Authority, makeAuthority } from "#http/intercept/authority";
import { type ConnectProxy, startConnectProxy } from "#http/intercept/connect-proxy";
import type { InterceptedHosts } from "#http/intercept/intercepted-hosts";
import { UpstreamProxies } from "#http/intercept/upstream-proxies";
import { interceptionVariables } from "#http/intercept/variables";
import { makeTemporaryFolder } from "#storage/temporary-folder";
import { realNowMs } from "#system";
import { namedHosts } from "./named-hosts.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** The internet hosts in place of which Plaza responds during a run, as the options name them. */
export interface Interception {
  readonly hosts: InterceptedHosts;
  readonly authority: Authority;
  readonly upstream: UpstreamProxies;
  readonly isOnly: boolean;
}

/** Reads the options. Returns undefined if the option `--as` is not given. Throws `ConfigProblem`. */
export function readInterception({ as, only }: Readonly<Record<string, unknown>>, variables: Variables): Interception | undefined {
  const named = as as readonly string[] | undefined;
  if (named === undefined) {
    if (only === true) throw new ConfigProblem("--only", "refuses all hosts that --as does not name; add --as with the host that your program calls");
    return undefined;
  }
  const surfaces = namedHosts(named);
  const authority = makeAuthority(hostnamesOf(surfaces), realNowMs());
  return {
    ...{ authority, isOnly: only === true, upstream: new UpstreamProxies(variables) },
    hosts: { surfaces, certificate: { current: authority.ofHosts } },
  };
}

/** D-380: the default profile is the one for client libraries, because client libraries call the named hosts. */
export const withProfile = (flags: Values, file: ConfigFile | undefined, variables: Variables): Values =>
  flags.profile === undefined && !variables[variableOf("profile")] && file?.values.profile === undefined ? { ...flags, profile: "clients" } : flags;

const hostnamesOf = (surfaces: InterceptedHosts["surfaces"]): string[] => surfaces.flatMap(({ hostname }) => hostname ?? []);

export interface RunningInterception {
  /** The environment variables for the programs of the run. */
  readonly variables: Readonly<Record<string, string>>;
  /** The folder of the files to which the environment variables point. */
  readonly folder: string;
  /** Returns the lines about hosts that Plaza refused; empty if Plaza refused no host. */
  report(): string;
  stop(): Promise<void>;
}

/** Starts the proxy and writes the files that intercepted programs need. `port` is the port at which the server responds in place of the hosts. */
export async function intercept({ hosts, authority, upstream, isOnly }: Interception, port: number, given: Variables): Promise<RunningInterception> {
  const hostnames = hostnamesOf(hosts.surfaces);
  const proxy = await startConnectProxy({ hostnames: new Set(hostnames), port, authority: authority.certificate, isOnly, upstream });
  const { folder, remove } = makeTemporaryFolder("intercept", () => {});
  const by = { folder, authority: authority.certificate, hostnames, port, proxyPort: proxy.port, isOnly };
  return {
    ...{ folder, variables: interceptionVariables(by, given) },
    report: () => reportOf(proxy),
    stop: async () => {
      await proxy.stop();
      remove();
    },
  };
}

function reportOf({ tried }: ConnectProxy): string {
  const hosts = tried.list();
  if (hosts.length === 0) return "";
  const lines = hosts.map(({ host, count }) => `  ${host}  ${count === 1 ? "once" : `${count} times`}`);
  const more = tried.further === 0 ? [] : [`  and other hosts, ${tried.further} times`];
  return `${["plaza: --only refused these hosts, which the command tried to reach:", ...lines, ...more].join("\n")}\n`;
}
