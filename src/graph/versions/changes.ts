/**
 * Versions as changes back from the newest: handlers know the newest version alone. A response for an older one is made by undoing,
 * newest first, each change that came after it. A feature defines its own changes in `x.changes.ts`.
 */
import type { Version } from "#kernel/versions";
import type { Parameters } from "../pipeline/request.ts";

export interface VersionChange {
  /** The version that brought the change. */
  readonly introduced: Version;
  readonly summary: string;
  /** The operations, reads of a node included, that it changes. */
  readonly operations: readonly string[];
  /** From what callers of the version before it send to what handlers expect. */
  readonly upParams?: (params: Parameters) => Parameters;
  /** From what handlers return to what the version before it returned. */
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
