/** The steps `prepare` and `handle`, which run the feature's own code. */

import type { Transaction } from "#storage/database";
import type { Row } from "#storage/sql";
import type { ListResult } from "../contract/operation.ts";
import type { Parsed, ParsedList, ParsedNode, ParsedRead, ParsedWrite } from "./parse.ts";
import type { StoryRecorder } from "./story/story.ts";

/** The result of the feature, together with the request that it is for. */
export type Handled =
  | { readonly kind: "node"; readonly parsed: ParsedNode; readonly row: Row | undefined }
  | { readonly kind: "list"; readonly parsed: ParsedList; readonly found: ListResult<Row> }
  | { readonly kind: "read"; readonly parsed: ParsedRead; readonly response: unknown }
  | { readonly kind: "write"; readonly parsed: ParsedWrite; readonly response: unknown };

/** Sends a write's requests to other servers, before the write's transaction. Undefined if the write prepares nothing. */
export function prepare({ served, request }: ParsedWrite): Promise<unknown> | undefined {
  if (served.submit !== undefined || served.prepare === undefined) return undefined;
  const { prepare } = served;
  const { admission } = request.graphRequest;
  const ask = () => prepare(request, request.world.database.reader);
  return admission === undefined ? ask() : admission.whileWaiting(ask);
}

/** Runs the feature. Rejects with the error of the feature. A write that rejects stores nothing. */
export async function handle(
  parsed: Parsed,
  prepared: unknown,
  authorizeAgain: (tx: Transaction) => Promise<void>,
  story?: StoryRecorder,
): Promise<Handled> {
  const { database } = parsed.request.world;
  switch (parsed.kind) {
    case "node":
      return { kind: "node", parsed, row: await parsed.reading.find(parsed.request, database.reader, parsed.request.node) };
    case "list":
      return { kind: "list", parsed, found: await parsed.served.handle(parsed.request, database.reader) };
    case "read":
      return { kind: "read", parsed, response: await parsed.served.handle(parsed.request, database.reader) };
    case "write":
      return { kind: "write", parsed, response: await write(parsed, prepared, authorizeAgain, story) };
  }
}

function write(
  { served, request }: ParsedWrite,
  prepared: unknown,
  authorizeAgain: (tx: Transaction) => Promise<void>,
  story: StoryRecorder | undefined,
): Promise<unknown> {
  if (served.submit !== undefined) return served.submit(request);
  return request.world.database.write(async (tx) => {
    story?.recordWrite(tx);
    request.world.workBegins(served.contract.operation);
    const response = await served.handle(request, tx, prepared);
    // Rights are checked after the handler, which may have waited for a lock.
    if (served.prepare !== undefined) await authorizeAgain(tx);
    return response;
  });
}
