/** The steps `prepare` and `handle`, which run the feature's own code. */

import type { Transaction } from "#storage/database";
import type { ParsedList, ParsedNode, ParsedRead, ParsedWrite } from "./parse.ts";

/** Sends a write's requests to other servers, before the write's transaction. Undefined if the operation sends no requests to other servers. */
export function prepare({ served, request }: ParsedWrite): Promise<unknown> | undefined {
  if (served.submit !== undefined || served.prepare === undefined) return undefined;
  const { prepare } = served;
  const { admission } = request.graphRequest;
  const ask = () => prepare(request, request.world.database.reader);
  return admission === undefined ? ask() : admission.whileWaiting(ask);
}

/**
 * Calls the feature for a read. Resolves with the row of a node, the rows of a list, or the response of another read. Rejects with the error that the
 * feature throws.
 */
export function read(parsed: ParsedNode | ParsedList | ParsedRead): Promise<unknown> {
  const { reader } = parsed.request.world.database;
  switch (parsed.kind) {
    case "node":
      return parsed.reading.find(parsed.request, reader, parsed.request.node);
    case "list":
      return parsed.served.handle(parsed.request, reader);
    case "read":
      return parsed.served.handle(parsed.request, reader);
  }
}

/**
 * Calls the feature for a write. Resolves with the response to the write. If the handler's promise rejects, the transaction is rolled back. `onBegun`
 * is called when the write's transaction has begun.
 */
export function write(
  { served, request }: ParsedWrite,
  prepared: unknown,
  authorizeAgain: (tx: Transaction) => Promise<void>,
  onBegun: (tx: Transaction) => void,
): Promise<unknown> {
  if (served.submit !== undefined) return served.submit(request);
  return request.world.database.write(async (tx) => {
    onBegun(tx);
    request.world.workBegins(served.contract.operation);
    const response = await served.handle(request, tx, prepared);
    // The caller's rights are checked after the handler, which may have waited for a lock.
    if (served.prepare !== undefined) await authorizeAgain(tx);
    return response;
  });
}
