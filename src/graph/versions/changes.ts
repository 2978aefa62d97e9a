/**
 * Changes between versions. Handlers of operations implement only the newest version. The response for an older version is made by undoing each later
 * change, beginning with the newest. A feature defines its own changes between versions in `x.changes.ts`.
 */
import type { Version } from "#kernel/versions";
import type { Parameters } from "../pipeline/request.ts";

export interface VersionChange {
  /** The version of the platform that introduced the change. */
  readonly introduced: Version;
  readonly summary: string;
  /** The operations, including reads of a node, that the change affects. */
  readonly operations: readonly string[];
  /** Converts a request's parameters from the previous version to this version. */
  readonly upParams?: (params: Parameters) => Parameters;
  /** Converts a response from this version to the previous version. */
  readonly downResponse?: (response: unknown) => unknown;
}

export class ChangeLog {
  readonly #byOperation = new Map<string, VersionChange[]>();

  constructor(changes: readonly VersionChange[]) {
    for (const change of [...changes].sort((a, b) => b.introduced - a.introduced)) {
      for (const operation of change.operations) {
        const known = this.#byOperation.get(operation);
        if (known === undefined) this.#byOperation.set(operation, [change]);
        else known.push(change);
      }
    }
  }

  upParams(operation: string, version: Version, params: Parameters): Parameters {
    const changes = this.#byOperation.get(operation);
    if (changes === undefined) return params;
    return changes.reduceRight((current, change) => (change.introduced > version ? (change.upParams?.(current) ?? current) : current), params);
  }

  downResponse(operation: string, version: Version, response: unknown): unknown {
    const changes = this.#byOperation.get(operation);
    if (changes === undefined) return response;
    return changes.reduce(
      (current, change) => (change.introduced > version && change.downResponse ? change.downResponse(current) : current),
      response,
    );
  }
}
