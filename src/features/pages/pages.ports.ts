/** What others ask of pages. */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";

interface PagePort {
  findName(reader: Reader, page: NodeId): Promise<string | undefined>;
  /** By id, of those ids that are pages. */
  findNames(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Whether the page knows a person by that page-scoped id. */
  hasPerson(reader: Reader, page: NodeId, psid: NodeId): Promise<boolean>;
}

declare module "#kernel/ports" {
  interface Ports {
    page: PagePort;
  }
}
