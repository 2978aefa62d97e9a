/** As whom a request is sent. */
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

interface IdentityProps {
  readonly label: string;
  readonly tokens: readonly Token[];
  /** World time, in Unix seconds. */
  readonly now: number;
  readonly chosen: string | undefined;
  readonly onChoose: (id: string) => void;
}

export function Identity({ label, tokens, now, chosen, onChoose }: IdentityProps) {
  return (
    <select aria-label={label} value={chosen ?? ""} onChange={(event) => onChoose(event.target.value)}>
      {chosen === undefined && <option value="">no token</option>}
      {tokens.map(({ id, type, app, page, user, social_account, microblog_user, expires_at }) => (
        <option key={id} value={id}>
          {type} {page ?? user ?? social_account ?? microblog_user ?? ""} · app {app}
          {expires_at !== 0 && expires_at <= now && " · expired"}
        </option>
      ))}
    </select>
  );
}
