/** The surface: which world and which surface a request is for, by host name and by the beginning of its path (D-01). */
import type { SurfaceName } from "#graph/pipeline/request";
import { DEFAULT_WORLD } from "#graph/worlds/hosting/worlds.store";
import type { World } from "#graph/worlds/world";
import { hostnameOf } from "./origin.ts";

/** A world that a request uses, until it leaves it. */
interface EnteredWorld {
  readonly world: World;
  leave(): void;
}

export interface WorldDirectory {
  readonly default: World;
  /** Opens the world if it is at rest. Undefined: there is no such world. */
  enter(name: string): Promise<EnteredWorld | undefined>;
}

/** A surface where it is served: below a mount, and on every host name or on one of its own. */
export interface SurfaceAddress {
  readonly name: SurfaceName;
  /** E.g. `/ads`; empty for the root. */
  readonly mount: string;
  /** Lower case, without a port. With one the surface is served there alone. */
  readonly hostname?: string | undefined;
}

export interface Destination extends EnteredWorld {
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

/** Other worlds stand below `/w/{world}`, and at `{world}.localhost`. */
const WORLD_SEGMENT = "w";
const LOCALHOST = ".localhost";

/** Where a request leads, once its world is known. */
interface Location {
  readonly surface: Pick<Mounted, "name" | "hostname">;
  readonly mount: string;
  readonly path: string;
}

export class Destinations {
  readonly #worlds: WorldDirectory;
  readonly #everywhere: readonly Mounted[];
  readonly #byHostname: ReadonlyMap<string, readonly Mounted[]>;
  readonly #isHostKept: boolean;
  /** Nearly every request names the same host as the one before. */
  #lastHost = "";
  #worldOfLastHost: string | undefined;

  /** `isHostKept`: links begin with the host of the request. Otherwise they name the world in their path. */
  constructor(worlds: WorldDirectory, surfaces: readonly SurfaceAddress[], isHostKept = true) {
    this.#worlds = worlds;
    this.#isHostKept = isHostKept;
    this.#everywhere = mountedOf(surfaces.filter(({ hostname }) => hostname === undefined));
    const hostnames = new Set(surfaces.flatMap(({ hostname }) => (hostname === undefined ? [] : [hostname])));
    this.#byHostname = new Map([...hostnames].map((hostname) => [hostname, mountedOf(surfaces.filter((surface) => surface.hostname === hostname))]));
  }

  /**
   * The caller leaves the destination when the request has ended. The path of a world that does not exist is one of the first world, where the
   * pipeline does not know it.
   */
  async find(host: string, path: string): Promise<Destination> {
    const named = namedWorld(path);
    const name = named?.name ?? this.#worldOfHost(host);
    if (name === undefined) return this.#inFirst(host, path);
    const mount = `/${WORLD_SEGMENT}/${name}`;
    const entered = await this.#worlds.enter(name);
    if (entered === undefined) return this.#inFirst(host, named === undefined ? mount + path : path);
    if (named !== undefined) return destinationOf(entered, this.#locationOf(host, mount, path.slice(named.end)));
    return destinationOf(entered, this.#locationOf(host, this.#isHostKept ? "" : mount, path));
  }

  async #inFirst(host: string, path: string): Promise<Destination> {
    // The first world is never deleted.
    const entered = (await this.#worlds.enter(DEFAULT_WORLD)) as EnteredWorld;
    return destinationOf(entered, this.#locationOf(host, "", path));
  }

  #locationOf(host: string, mount: string, path: string): Location {
    const mounts = this.#byHostname.size === 0 ? this.#everywhere : (this.#byHostname.get(hostnameOf(host)) ?? this.#everywhere);
    for (const surface of mounts) {
      const end = endOfMount(path, surface.segments);
      if (end !== -1) return { surface, mount: mount + surface.mount, path: path.slice(end) };
    }
    // Where no surface is mounted the base surface says that it does not know the path.
    return { surface: NOWHERE, mount, path };
  }

  #worldOfHost(host: string): string | undefined {
    if (host === this.#lastHost) return this.#worldOfLastHost;
    const hostname = hostnameOf(host);
    const label = hostname.endsWith(LOCALHOST) && !this.#byHostname.has(hostname) ? hostname.slice(0, -LOCALHOST.length) : "";
    this.#lastHost = host;
    this.#worldOfLastHost = label === "" || label.includes(".") ? undefined : label;
    return this.#worldOfLastHost;
  }
}

const NOWHERE = { name: "base", hostname: undefined } as const;

const destinationOf = ({ world, leave }: EnteredWorld, { surface: { name, hostname }, mount, path }: Location): Destination => ({
  world,
  leave,
  surface: name,
  mount,
  hostname,
  path: path === "" ? "/" : path,
});

/** Apps of two worlds may have one id; the first world's have no prefix. */
export const appPrefixOf = ({ name }: World): string => (name === DEFAULT_WORLD ? "" : `${name}/`);

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
