/** The surface: which world and which surface a request is for, by host name and by the beginning of its path (D-01). */
import type { SurfaceName } from "#graph/pipeline/request";
import type { World } from "#graph/worlds/world";
import { hostnameOf } from "./origin.ts";

export interface WorldDirectory {
  readonly default: World;
  find(name: string): World | undefined;
  /** For worlds that have a host name of their own; lower case, without a port. */
  findByHostname?(hostname: string): World | undefined;
}

/** A surface where it is served: below a mount, and on every host name or on one of its own. */
export interface SurfaceAddress {
  readonly name: SurfaceName;
  /** E.g. `/ads`; empty for the root. */
  readonly mount: string;
  /** Lower case, without a port. With one the surface is served there alone. */
  readonly hostname?: string | undefined;
}

export interface Place {
  readonly world: World;
  readonly surface: SurfaceName;
  /** Of world and surface, without a trailing slash: what links begin with behind the host. */
  readonly mount: string;
  /** The configured host name of the surface, if it has one of its own. */
  readonly hostname: string | undefined;
  /** What is left of the path. */
  readonly path: string;
}

interface Mounted {
  readonly name: SurfaceName;
  readonly mount: string;
  readonly hostname: string | undefined;
  readonly segments: readonly string[];
}

/** Other worlds stand below `/w/{world}`. */
const WORLD_SEGMENT = "w";

export class Places {
  readonly #worlds: WorldDirectory;
  readonly #everywhere: readonly Mounted[];
  readonly #byHostname: ReadonlyMap<string, readonly Mounted[]>;
  readonly #asksHostname: boolean;

  constructor(worlds: WorldDirectory, surfaces: readonly SurfaceAddress[]) {
    this.#worlds = worlds;
    this.#everywhere = mountedOf(surfaces.filter(({ hostname }) => hostname === undefined));
    const hostnames = new Set(surfaces.flatMap(({ hostname }) => (hostname === undefined ? [] : [hostname])));
    this.#byHostname = new Map([...hostnames].map((hostname) => [hostname, mountedOf(surfaces.filter((surface) => surface.hostname === hostname))]));
    this.#asksHostname = hostnames.size > 0 || worlds.findByHostname !== undefined;
  }

  /** The path of a world that does not exist is one of the default world, where the pipeline does not know it. */
  locate(host: string, path: string): Place {
    const hostname = this.#asksHostname ? hostnameOf(host) : "";
    let world = this.#asksHostname ? this.#worlds.findByHostname?.(hostname) : undefined;
    let mount = "";
    let rest = path;
    const named = namedWorld(path);
    const found = named === undefined ? undefined : this.#worlds.find(named.name);
    if (named !== undefined && found !== undefined) {
      world = found;
      mount = `/${WORLD_SEGMENT}/${named.name}`;
      rest = path.slice(named.end);
    }
    const mounts = this.#asksHostname ? (this.#byHostname.get(hostname) ?? this.#everywhere) : this.#everywhere;
    for (const surface of mounts) {
      const end = endOfMount(rest, surface.segments);
      if (end !== -1) return placed(world ?? this.#worlds.default, surface, mount + surface.mount, rest.slice(end));
    }
    // Where no surface is mounted the base surface says that it does not know the path.
    return placed(world ?? this.#worlds.default, NOWHERE, mount, rest);
  }
}

const NOWHERE = { name: "base", hostname: undefined } as const;

const placed = (world: World, { name, hostname }: Pick<Mounted, "name" | "hostname">, mount: string, path: string): Place => ({
  world,
  surface: name,
  mount,
  hostname,
  path: path === "" ? "/" : path,
});

/** Longest mount first, so that the root takes what is left. */
const mountedOf = (surfaces: readonly SurfaceAddress[]): Mounted[] =>
  surfaces
    .map(({ name, mount, hostname }) => ({ name, mount, hostname, segments: mount.split("/").filter((segment) => segment !== "") }))
    .sort((a, b) => b.segments.length - a.segments.length);

/** D-02: repeated slashes count as one. Where the path behind these segments begins; -1 when it does not begin with them. */
function endOfMount(path: string, segments: readonly string[]): number {
  let at = 0;
  for (const segment of segments) {
    const start = skipSlashes(path, at);
    if (start === at || !path.startsWith(segment, start)) return -1;
    at = start + segment.length;
    if (at < path.length && path.charCodeAt(at) !== 47) return -1;
  }
  return at;
}

function skipSlashes(path: string, from: number): number {
  let at = from;
  while (path.charCodeAt(at) === 47) at++;
  return at;
}

function namedWorld(path: string): { name: string; end: number } | undefined {
  const afterWord = endOfMount(path, [WORLD_SEGMENT]);
  if (afterWord === -1) return undefined;
  const start = skipSlashes(path, afterWord);
  const slash = path.indexOf("/", start);
  const end = slash === -1 ? path.length : slash;
  return start === end ? undefined : { name: path.slice(start, end), end };
}
