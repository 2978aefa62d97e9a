import type { NodeId } from "#kernel/ids";

/** What the directory knows of a node: enough to match, to authorize, and to find its row. */
export interface NodeRef {
  readonly id: NodeId;
  readonly type: string;
  /** The page, app or account that the node belongs to and that its table's key leads with; its own id for those. */
  readonly owner: NodeId;
}
