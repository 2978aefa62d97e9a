/** Nodes by their names: the name first, and the id in grey, which a click copies. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Entry } from "../api/graph/kinds.ts";
import { nodeQuery, nodesQuery, textOf } from "../api/graph/nodes.ts";
import { useWorld } from "../shell/world.ts";
import { Icon, isKind, kindIcon } from "./icon.tsx";
import { CopyId } from "./texts.tsx";

/** The keys by which people know a node, the best first. */
export const NAME_KEYS: readonly string[] = ["name", "username", "title", "caption", "text", "message"];

/** The text by which people know a node; empty if the node has none. */
export const nameOf = (entry: Entry | undefined): string =>
  textOf(NAME_KEYS.map((key) => entry?.[key]).find((value) => value !== undefined && value !== ""));

/** The node with this id: from the first page of its kind, which all names share, or read by its id. */
export function useNode(kind: string, id: string | undefined): Entry | undefined {
  const w = useWorld();
  const first = useQuery({ ...nodesQuery(w, kind), enabled: id !== undefined && isKind(kind) }).data;
  const found = first?.data.find((one) => String(one.id) === id);
  const isElsewhere = id !== undefined && first?.paging.next !== undefined && found === undefined;
  return useQuery({ ...nodeQuery(w, kind, id ?? ""), enabled: isElsewhere }).data ?? found;
}

interface NamedProps {
  readonly kind: string;
  readonly id: string;
  /** Set in a table, in which a click opens the row instead of following a link. */
  readonly isCell?: boolean;
}

export function Named({ kind, id, isCell = false }: NamedProps) {
  const name = nameOf(useNode(kind, id));
  return (
    <span className="named">
      <Icon name={kindIcon(kind)} />
      {name !== "" && (isCell ? <span>{name}</span> : <NodeLink kind={kind} id={id} name={name} />)}
      {name === "" && !isCell && isKind(kind) && (
        <NodeLink kind={kind} id={id} name={kind.replace(/ies$/, "y").replace(/s$/, "").replaceAll("_", " ")} />
      )}
      <CopyId id={id} isCell={isCell} />
    </span>
  );
}

const NodeLink = ({ kind, id, name }: { readonly kind: string; readonly id: string; readonly name: string }) => (
  <Link to="/graph" search={({ world }) => ({ world, kind, id })}>
    {name}
  </Link>
);

/** The kind of node that a token belongs to, by the key of the token that has the node's id. */
const OWNER_KINDS = { page: "pages", user: "users", social_account: "social_accounts", microblog_user: "microblog_users" } as const;

export type Owned = { readonly [key in keyof typeof OWNER_KINDS]?: string | undefined } & { readonly app: string };

/** The node that a token acts for: its page, person or account, or the app itself. */
export function ownerOf(token: Owned): { readonly kind: string; readonly id: string } {
  for (const [key, kind] of Object.entries(OWNER_KINDS)) {
    const id = token[key as keyof typeof OWNER_KINDS];
    if (id !== undefined) return { kind, id };
  }
  return { kind: "apps", id: token.app };
}
