/** A choice of the token with which the console sends a request. The choice names a token by its type, its owner and its app, not by its number. */
import { useQueries } from "@tanstack/react-query";
import { nodesQuery } from "../api/graph/nodes.ts";
import { useWorld } from "../shell/world.ts";
import { nameOf, type Owned, ownerOf } from "./named.tsx";

interface Token extends Owned {
  readonly id: string;
  readonly type: string;
  readonly expires_at: number;
}

interface IdentityProps {
  readonly label: string;
  readonly tokens: readonly Token[];
  /** The world's time, in Unix seconds. */
  readonly now: number;
  readonly chosen: string | undefined;
  readonly onChoose: (id: string) => void;
}

/** The names of the nodes of some kinds, by kind and id. */
function useNames(kinds: readonly string[]): (kind: string, id: string) => string {
  const w = useWorld();
  const read = useQueries({ queries: kinds.map((kind) => nodesQuery(w, kind)) });
  return (kind, id) => nameOf(read[kinds.indexOf(kind)]?.data?.data.find((one) => String(one.id) === id)) || id;
}

export function Identity({ label, tokens, now, chosen, onChoose }: IdentityProps) {
  const nameIn = useNames([...new Set(["apps", ...tokens.map((token) => ownerOf(token).kind)])]);
  const textOf = (token: Token): string => {
    const { kind, id } = ownerOf(token);
    return `${token.type.replace("_", " ")} token · ${nameIn(kind, id)}${kind === "apps" ? "" : ` · app ${nameIn("apps", token.app)}`}`;
  };
  return (
    <select aria-label={label} value={chosen ?? ""} onChange={(event) => onChoose(event.target.value)}>
      {chosen === undefined && <option value="">no token</option>}
      {tokens.map((token) => (
        <option key={token.id} value={token.id}>
          {textOf(token)}
          {token.expires_at !== 0 && token.expires_at <= now && " · expired"}
        </option>
      ))}
    </select>
  );
}
