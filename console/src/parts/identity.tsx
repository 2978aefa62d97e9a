/** A choice of the token with which the console sends a request. */
interface Token {
  readonly id: string;
  readonly type: string;
  readonly app: string;
  readonly page?: string | undefined;
  readonly user?: string | undefined;
  readonly social_account?: string | undefined;
  readonly microblog_user?: string | undefined;
  readonly expires_at: number;
}

/** The id of the node that a token belongs to; empty for a token of the app itself. */
export const ownerOf = ({ page, user, social_account, microblog_user }: Omit<Token, "id" | "type" | "app" | "expires_at">): string =>
  page ?? user ?? social_account ?? microblog_user ?? "";

interface IdentityProps {
  readonly label: string;
  readonly tokens: readonly Token[];
  /** The world's time, in Unix seconds. */
  readonly now: number;
  readonly chosen: string | undefined;
  readonly onChoose: (id: string) => void;
}

export function Identity({ label, tokens, now, chosen, onChoose }: IdentityProps) {
  return (
    <select aria-label={label} value={chosen ?? ""} onChange={(event) => onChoose(event.target.value)}>
      {chosen === undefined && <option value="">no token</option>}
      {tokens.map((token) => (
        <option key={token.id} value={token.id}>
          {token.type} {ownerOf(token)} · app {token.app}
          {token.expires_at !== 0 && token.expires_at <= now && " · expired"}
        </option>
      ))}
    </select>
  );
}
