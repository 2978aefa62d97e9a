import { Type } from "typebox";
import type { Policy } from "#auth/policy";
import type { Reader } from "#storage/database";
import type { Row } from "#storage/sql";
import { nodeType } from "./feature.ts";
import type { Access, Field, NodeType } from "./operation.ts";

interface NamedNode extends Partial<Pick<Access, "surfaces" | "versions">> {
  readonly type: "page" | "user" | "business" | "social_account" | "microblog_user";
  readonly policy: Policy;
  readonly operation: string;
  /** The policy for reading the node, if it differs from the policy that decides whether the caller may know that the node exists. */
  readonly reading?: Policy;
  /** Whether the nodes are accounts with a username. The field `name` of an account shows its username, because it has no other name. */
  readonly hasUsername?: true;
  find(reader: Reader, id: string): Promise<Row | undefined>;
}

/** D-165: makes a node type that shows only the name of its nodes. */
export function namedNode(node: NamedNode): NodeType {
  const { type, policy, operation, reading = policy, surfaces = ["base"], versions = "platform", hasUsername, find } = node;
  const text = { schema: Type.String(), policy: reading };
  const username: Record<string, Field> = { name: { ...text, of: (row) => row.username }, username: text };
  return nodeType<Row>({
    type,
    policy,
    reading: {
      operation,
      clauses: [],
      decisions: ["D-165"],
      surfaces,
      versions,
      scheme: "anywhere",
      policy: reading,
      errorForm: "wrapped",
      errors: [],
      set: { fields: { id: text, ...(hasUsername ? username : { name: text }) }, defaults: ["id", hasUsername ? "username" : "name"] },
      find: (_request, reader, node) => find(reader, node.id),
    },
  });
}
