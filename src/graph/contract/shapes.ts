/** What the form of a request alone says of its endpoint, by edge and method, whatever is stored (D-90). */
import { clientsScheme, type Place, schemes } from "#auth/schemes";
import type { Access, Operation } from "./operation.ts";

interface Shape {
  readonly accesses: readonly Access[];
  /** Undefined where node types differ. */
  readonly common: Access | undefined;
  /** D-12: where the tokens of any of them may stand. */
  readonly places: readonly Place[];
}

/** Of all methods that an edge has: what it says of one that it does not have. */
const ANY = "";

export class Shapes {
  readonly #byEdge = new Map<string, Map<string, Shape>>();

  add(edge: string, contract: Operation): void {
    const byMethod = this.#byEdge.get(edge) ?? new Map<string, Shape>();
    this.#byEdge.set(edge, byMethod);
    for (const method of [contract.method, ANY]) {
      const accesses = [...(byMethod.get(method)?.accesses ?? []), contract];
      const counting = new Set<Place>(accesses.flatMap(({ scheme }) => schemes[scheme].places));
      // In one order for all, so that of two dead tokens the same one is named with and without an edge.
      const places = clientsScheme.places.filter((place) => counting.has(place));
      const isCommon = accesses.every(({ scheme, tokenless }) => scheme === contract.scheme && tokenless === contract.tokenless);
      byMethod.set(method, { accesses, places, common: isCommon ? contract : undefined });
    }
  }

  /** Undefined for a bare id, and where node types differ. */
  accessOf(method: string, edge: string | undefined): Access | undefined {
    return edge === undefined ? undefined : this.#byEdge.get(edge)?.get(method)?.common;
  }

  /** D-93: of a bare id, and of an edge that no node has, any place may count. */
  placesOf(method: string, edge: string | undefined): readonly Place[] {
    const byMethod = edge === undefined ? undefined : this.#byEdge.get(edge);
    return (byMethod?.get(method) ?? byMethod?.get(ANY))?.places ?? clientsScheme.places;
  }
}
