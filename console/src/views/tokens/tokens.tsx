import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";
import { api, dataOf } from "../../api/client.ts";
import { forgetCopies, mintCopy } from "../../api/graph/identities.ts";
import { useList } from "../../api/lists.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Named, ownerOf } from "../../parts/named.tsx";
import { act } from "../../parts/notices.tsx";
import { Split } from "../../parts/split.tsx";
import { Sure } from "../../parts/sure.tsx";
import { Block, CopyButton, CopyId, CopyValue, Empty, Facts, Problem, WorldTime } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { useWorld } from "../../shell/world.ts";
import { madeToken } from "./made-tokens.ts";
import { MintToken } from "./mint-token.tsx";

const route = getRouteApi("/tokens");
const LIMIT = 200;
const NEW = "new";

const readTokens = (w: string, after: string | undefined) =>
  dataOf(api.GET("/v1/worlds/{w}/tokens", { params: { path: { w }, query: after === undefined ? { limit: LIMIT } : { limit: LIMIT, after } } }));
type Token = Awaited<ReturnType<typeof readTokens>>["data"][number];

const idOf = ({ id }: Token): string => id;

function Life({ token: { revoked_at, expires_at }, now }: { readonly token: Token; readonly now: number }) {
  if (revoked_at !== 0) return <span className="bad">✕ revoked</span>;
  if (expires_at !== 0 && expires_at <= now) return <span className="warn">! expired</span>;
  return <span className="good">✓ valid</span>;
}

const columnsAt = (now: number): Column<Token>[] => [
  { id: "type", title: "Type", width: "112px", cell: ({ type }) => type.replace("_", " ") },
  { id: "of", title: "Owner", width: "minmax(180px, 1fr)", cell: (token) => <Named {...ownerOf(token)} isCell /> },
  { id: "app", title: "App", width: "minmax(150px, 0.8fr)", cell: ({ app }) => <Named kind="apps" id={app} isCell /> },
  { id: "life", title: "State", width: "96px", cell: (token) => <Life token={token} now={now} /> },
  { id: "scopes", title: "Scopes", width: "minmax(160px, 1fr)", cell: ({ scopes }) => scopes.join(", ") },
];

export function Tokens() {
  const w = useWorld();
  const { token: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const { rows, isLoaded, error, more } = useList<Token>(["tokens", w, "list"], (after) => readTokens(w, after));
  const now = Math.floor(useWorldNow(w)?.now ?? 0);
  const choose = useCallback((token: string | undefined) => void navigate({ search: (before) => ({ ...before, token }), replace: true }), [navigate]);
  const close = useCallback(() => choose(undefined), [choose]);
  const found = rows.find(({ id }) => id === chosen);
  const detail =
    chosen === NEW ? <MintToken onMade={choose} /> : found === undefined ? undefined : <TokenDetail key={found.id} token={found} now={now} />;
  return (
    <>
      <div className="bar">
        <span className="quiet">
          The server stores no values of tokens. This tab keeps those of the tokens that you create here, until you close it.
        </span>
        <span className="space" />
        <button type="button" className="primary" onClick={() => choose(NEW)}>
          Create a token
        </button>
      </div>
      {error !== null && <Problem error={error} />}
      <Split title={chosen === NEW ? "New token" : "Token"} detail={detail} onClose={close}>
        {rows.length === 0 && isLoaded ? (
          <Empty title="No token yet">
            <p>A token lets an app act as a page, a person or an account. Create an app and a page first, then a token for them.</p>
          </Empty>
        ) : (
          <DataTable
            label="Tokens, the newest first"
            columns={columnsAt(now)}
            rows={rows}
            idOf={idOf}
            chosen={chosen}
            onChoose={choose}
            onEnd={more}
          />
        )}
      </Split>
    </>
  );
}

function TokenDetail({ token, now }: { readonly token: Token; readonly now: number }) {
  const w = useWorld();
  const client = useQueryClient();
  const { id, type, app, scopes, issued_at, expires_at, data_access_expires_at, revoked_at } = token;
  const revoke = () =>
    act("Revoked: the token is refused from now on", async () => {
      await dataOf(api.DELETE("/v1/worlds/{w}/tokens/{id}", { params: { path: { w, id } } }));
      forgetCopies();
      await client.invalidateQueries({ queryKey: ["tokens", w] });
    });
  const value = madeToken(id) ?? token.token;
  const moment = (seconds: number, none: string) => (seconds === 0 ? none : <WorldTime seconds={seconds} isLong />);
  return (
    <Block title={`${type.replace("_", " ")} token`}>
      {value !== undefined && <Value value={value} />}
      <Facts
        facts={[
          ["State", <Life key="life" token={token} now={now} />],
          ["Owner", <Named key="owner" {...ownerOf(token)} />],
          ["App", <Named key="app" kind="apps" id={app} />],
          ["Scopes", scopes.join(", ") || "none"],
          ["Issued", moment(issued_at, "unknown")],
          ["Expires", moment(expires_at, "never")],
          ["Data access ends", moment(data_access_expires_at, "never")],
          ["Id", <CopyId key="id" id={id} />],
        ]}
      />
      <div className="actions">
        <Link to="/explorer" search={({ world }) => ({ world, as: id })}>
          Use it in the explorer
        </Link>
        <CopyButton label="Copy a ten-minute token" text={() => mintCopy(w, id)} />
        {revoked_at === 0 && <Sure text="Revoke" sure="Revoke the token and its copies" onSure={() => void revoke()} />}
      </div>
    </Block>
  );
}

const focus = (element: HTMLElement | null): void => element?.querySelector("button")?.focus();

/** The value of a token in full, with the focus on it, because the person created the token to get this value. */
function Value({ value }: { readonly value: string }) {
  return (
    <div className="field" ref={focus}>
      <span>Value</span>
      <CopyValue label="the value of the token" value={value} />
    </div>
  );
}
