/** Reads the version, the node and the edge from the path of a request. */
import { type GraphRequest, inBody, inQuery, type Surface } from "./requests.ts";

export interface Address {
  readonly version: string | undefined;
  readonly id: string;
  readonly edge: string;
}

/** The APIs of the graph whose paths must or may begin with a version. */
const VERSIONED: ReadonlySet<Surface> = new Set(["base", "ads", "social_login"]);

/** Names that stand in a path in place of the id of a node. */
const LITERALS: ReadonlySet<string> = new Set(["debug_token", "live_map"]);

const segmentsOf = ({ path }: GraphRequest): string[] => path.split("/").filter((segment) => segment !== "");

/** The version in the path, whether or not it exists. */
export function versionIn(request: GraphRequest): string | undefined {
  const [, major, minor = "0"] = VERSIONED.has(request.surface) ? (/^v(\d+)(?:\.(\d+))?$/.exec(segmentsOf(request)[0] ?? "") ?? []) : [];
  return major === undefined ? undefined : `${major}.${minor}`;
}

/** D-20: the name of an edge anywhere in a path that leads to no endpoint. */
export const edgeIn = (request: GraphRequest, edges: ReadonlySet<string>): string | undefined =>
  segmentsOf(request).find((segment) => edges.has(segment));

/** The parts of the path; undefined if the interface has no such path. */
export function readPath(request: GraphRequest): Address | undefined {
  const { surface } = request;
  const segments = segmentsOf(request);
  const version = versionIn(request);
  const rest = version === undefined ? segments : segments.slice(1);
  // D-03: the path of G1 may have `pages` before the id.
  const [id, edge = "", ...more] = surface === "ads" && rest[0] === "pages" ? rest.slice(1) : rest;
  if (id === undefined || more.length > 0) return undefined;
  if (LITERALS.has(id) && edge === "") return { version, id: "", edge: id };
  const address = { version, id, edge };
  // D-02: only in the path of H7, a number that cannot be an id of a node counts as an id.
  const isOfIntent = isOfIntents(request, address) || (isIntentPath(request, address) && hasNoToken(request));
  return id === "me" || isId(id) || (/^\d+$/.test(id) && isOfIntent) ? address : undefined;
}

/** Whether the path has the form of H7's path. */
export function isOfIntents(request: GraphRequest, address: Address): boolean {
  return isIntentPath(request, address) && inQuery(request, "oauth_token") === undefined && request.headers.authorization !== undefined;
}

function isIntentPath({ surface, method }: GraphRequest, { version, edge }: Address): boolean {
  return surface === "base" && method === "GET" && edge === "" && (version === "23.0" || version === "24.0" || version === "25.0");
}

const hasNoToken = (request: GraphRequest): boolean =>
  request.headers.authorization === undefined &&
  inQuery(request, "access_token") === undefined &&
  inQuery(request, "oauth_token") === undefined &&
  inBody(request, "access_token") === undefined;

export const isId = (text: string): boolean => /^[1-9]\d{0,18}$/.test(text) && BigInt(text) < 2n ** 63n;

/** D-83: the version that serves the request. The APIs of the microblog and of required actions have one version each. */
export function servedBy({ surface }: GraphRequest, version: string): string {
  if (surface === "microblog") return "v1.0";
  return surface === "app" ? "1.0.0" : `v${version}`;
}
