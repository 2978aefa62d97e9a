import { Type } from "typebox";
import type { Policy } from "#auth/policy";
import type { Reader } from "#storage/database";
import type { Row } from "#storage/sql";
import { nodeType } from "./feature.ts";
import type { NodeType } from "./operation.ts";

interface NamedNode {
  readonly type: "page" | "user" | "business";
  readonly policy: Policy;
  readonly operation: string;
  /** The policy for reading the node, if it differs from the policy that decides whether the caller may know that the node exists. */
  readonly reading?: Policy;
  find(reader: Reader, id: string): Promise<NamedRow | undefined>;
}

interface NamedRow extends Row {
  id: string;
  name: string;
}

/** D-165: makes a node type that shows only the name of its nodes. */
export function namedNode({ type, policy, operation, reading = policy, find }: NamedNode): NodeType {
  const text = { schema: Type.String(), policy: reading };
  return nodeType<NamedRow>({
    type,
    policy,
    reading: {
      operation,
      clauses: [],
      decisions: ["D-165"],
      surfaces: ["base"],
      versions: "platform",
      scheme: "anywhere",
      policy: reading,
      errorForm: "wrapped",
      errors: [],
      set: { fields: { id: text, name: text }, defaults: ["id", "name"] },
      find: (_request, reader, node) => find(reader, node.id),
    },
  });
}
