/** Reads `--as HOST[=SURFACE[/WORLD]]`: the hosts for which Plaza responds in place of the real servers. */
import { ConfigProblem } from "#config/config";
import type { SurfaceName } from "#graph/pipeline/request";
import type { SurfaceAddress } from "#http/destinations/destinations";
import { surfaceAtHost } from "#http/ready-info";
import { isLoopback } from "#kernel/page-guard";
import { suggestion } from "#kernel/suggestion";
import { surfaces } from "#surfaces/surfaces";

/** One certificate contains all intercepted hosts, so the number of hosts is limited. The limit is enough, because a platform has about ten hosts. */
const HOSTS_MAX = 50;

/** Matches a host name of the internet: labels of RFC 1035, with at least one dot. */
const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,62})(?:\.[a-z0-9](?:[a-z0-9-]{0,62}))+$/;
const WORLD = /^[a-z0-9][a-z0-9_-]*$/;

/** Reads the values of `--as`. Throws `ConfigProblem`. */
export function namedHosts(given: readonly string[]): SurfaceAddress[] {
  if (given.length > HOSTS_MAX) throw new ConfigProblem("--as", `is given for ${given.length} hosts; at most ${HOSTS_MAX} are possible`);
  const hosts = new Map<string, SurfaceAddress>();
  for (const text of given) {
    const address = namedHost(text);
    const hostname = String(address.hostname);
    if (hosts.has(hostname)) throw new ConfigProblem("--as", `is given twice for ${hostname}`);
    hosts.set(hostname, address);
  }
  return [...hosts.values()];
}

function namedHost(text: string): SurfaceAddress {
  const [host = "", ...targets] = text.split("=");
  const hostname = host.trim().toLowerCase();
  if (!HOST.test(hostname) || isLoopback(hostname) || targets.length > 1)
    throw new ConfigProblem("--as", `${text} does not begin with a host name of the internet; write graph.example.com or ads.example.com=ads`);
  const [name = "base", world, ...more] = (targets[0] ?? "base").split("/");
  if (!isSurface(name)) throw new ConfigProblem("--as", `${text} has an unknown surface: write one of ${names.join(", ")}${suggestion(name, names)}`);
  if (more.length > 0 || (world !== undefined && !WORLD.test(world)))
    throw new ConfigProblem("--as", `${text} has an invalid world: write a name in lower case after the surface, such as ${hostname}=${name}/second`);
  return surfaceAtHost(name, hostname, world);
}

const names: readonly string[] = surfaces.map(({ name }) => name);
const isSurface = (name: string): name is SurfaceName => names.includes(name);
