/** How to connect an app: addresses and tokens to copy, and a form for its callback and subscriptions. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { mintCopy } from "../../api/graph/identities.ts";
import { tokensQuery, useServer } from "../../api/queries.ts";
import { Named, ownerOf } from "../../parts/named.tsx";
import { CopyButton, CopyValue, Skeleton } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { CallbackForm } from "./callback-form.tsx";

/** The number of tokens that are offered; the view of tokens has all of them. */
const TOKENS_SHOWN = 8;

export function Connect() {
  return (
    <div className="connect">
      <div>
        <h3>1. Point it at these addresses</h3>
        <Addresses />
      </div>
      <div>
        <h3>2. Give it a token</h3>
        <Identities />
      </div>
      <div>
        <h3>3. Receive webhooks</h3>
        <CallbackForm />
      </div>
    </div>
  );
}

function Addresses() {
  const server = useServer(useWorld());
  if (server === undefined) return <Skeleton />;
  const addresses = [
    ["Graph", server.base_url],
    ["Graph, newest version", `${server.base_url}/${server.newest_version}`],
    ["App", server.app_base_url],
    ["Social login", server.social_login_host],
    ["Microblog", server.microblog_base_url],
    ["Ads", server.ads_base_url],
    ["Encoders (RTMP)", server.rtmp_url ?? ""],
  ] as const;
  return (
    <div className="pairs">
      {addresses
        .filter(([, address]) => address !== "")
        .map(([name, address]) => (
          <div key={name}>
            <span>{name}</span>
            <CopyValue label={`the address: ${name}`} value={address} />
          </div>
        ))}
    </div>
  );
}

function Identities() {
  const w = useWorld();
  const data = useQuery(tokensQuery(w)).data?.data;
  if (data === undefined) return <Skeleton />;
  // The oldest tokens come first, because the world began with them.
  const alive = data.filter(({ revoked_at }) => revoked_at === 0).toReversed();
  if (alive.length === 0)
    return (
      <p className="quiet">
        This world has no token yet.{" "}
        <Link to="/tokens" search={({ world }) => ({ world, token: "new" })}>
          Create a token
        </Link>
      </p>
    );
  return (
    <div className="pairs">
      {alive.slice(0, TOKENS_SHOWN).map((token) => (
        <div key={token.id}>
          <span>
            <Named {...ownerOf(token)} /> <span className="quiet">{token.type.replace("_", " ")} token</span>
          </span>
          {token.token === undefined ? (
            <CopyButton label="Copy a ten-minute token" text={() => mintCopy(w, token.id)} />
          ) : (
            <CopyValue label={`the ${token.type} token`} value={token.token} />
          )}
        </div>
      ))}
    </div>
  );
}
