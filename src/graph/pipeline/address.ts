/**
 * The step `address`: reads version, id and edge from a path (D-02, D-03). Every request goes through this step, so this code uses neither regular
 * expressions nor URL objects.
 */
import { isNodeId, type NodeId } from "#kernel/ids";
import { parseVersion, type Version } from "#kernel/versions";

export interface Address {
  /** The version in the path. Undefined if the path does not name a version. */
  readonly version: Version | undefined;
  /** A node id or `me`. Undefined if the path has neither a node id nor `me`. */
  readonly id: NodeId | "me" | undefined;
  /**
   * The edge after the id, or the whole path of an address without an id (`debug_token`). The edge is undefined if the request is for the node
   * itself.
   */
  readonly edge: string | undefined;
  /** The fixed path segment before the id (`pages`). */
  readonly prefix: string | undefined;
  /**
   * The path of a request that no endpoint can serve. A path without an endpoint still has a version, and an edge that decides the form of its error
   * (D-20, D-83). If a path without an endpoint has an `id`, no node has that id; the operation H7 then responds as for a missing migration intent
   * (D-02).
   */
  readonly unknown?: string;
}

/** The greatest number of segments in a path. Addresses of the interface have fewer segments than this limit. */
const SEGMENTS_MAX = 4;

/** The segments of a path. Repeated slashes count as one slash (D-02), and a slash at the end is ignored. */
export function segmentsOf(path: string): string[] {
  const segments: string[] = [];
  for (let start = 0; start < path.length; ) {
    const slash = path.indexOf("/", start);
    const end = slash === -1 ? path.length : slash;
    if (end > start) segments.push(path.slice(start, end));
    start = end + 1;
  }
  return segments;
}

function isDecimal(segment: string): boolean {
  for (let i = 0; i < segment.length; i++) {
    const unit = segment.charCodeAt(i);
    if (unit < 48 || unit > 57) return false;
  }
  return segment.length > 0;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export interface KnownSegments {
  /** Whether the segment is the whole path of an address without an id, e.g. `debug_token`. */
  isLiteral(word: string): boolean;
  /** Whether the segment is an edge of any node type. A request with `ids=` has an edge without an id (D-34). */
  isEdge(word: string): boolean;
  /** Whether the segment is a fixed one that may come before an id, e.g. `pages`. */
  isPrefix(word: string): boolean;
}

export function parseAddress(path: string, isVersioned: boolean, words: KnownSegments): Address {
  const segments = segmentsOf(path);
  if (path.includes("%")) for (let i = 0; i < segments.length; i++) segments[i] = decoded(segments[i] as string);
  let at = 0;
  const version = isVersioned && segments[0] !== undefined ? parseVersion(segments[0]) : undefined;
  if (segments.length > SEGMENTS_MAX) return unknownAddress(segments, version, words);
  if (version !== undefined) at++;
  let prefix: string | undefined;
  let word = segments[at];
  if (word !== undefined && words.isPrefix(word) && segments.length > at + 2) {
    prefix = word;
    word = segments[++at];
  }
  if (word === undefined) return { version, id: undefined, edge: undefined, prefix };
  if (word === "me" || isNodeId(word)) {
    if (segments.length > at + 2) return unknownAddress(segments, version, words);
    return { version, id: word as NodeId | "me", edge: segments[at + 1], prefix };
  }
  if (segments.length === at + 1 && (words.isLiteral(word) || words.isEdge(word))) return { version, id: undefined, edge: word, prefix };
  // D-382: the path of an address without an id may have two segments (`oauth/access_token`).
  const literal = `${word}/${segments[at + 1]}`;
  if (segments.length === at + 2 && words.isLiteral(literal)) return { version, id: undefined, edge: literal, prefix };
  const unknown = unknownAddress(segments, version, words);
  return segments.length === at + 1 && isDecimal(word) ? { ...unknown, id: word as NodeId } : unknown;
}

/**
 * The address of a path that no endpoint can serve. D-20: if no endpoint serves the path, its edge is the first segment that is an edge of any node
 * type.
 */
function unknownAddress(segments: readonly string[], version: Version | undefined, words: KnownSegments): Address {
  const edge = segments.find((word) => words.isEdge(word) || words.isLiteral(word));
  return { version, id: undefined, edge, prefix: undefined, unknown: `/${segments.join("/")}` };
}
