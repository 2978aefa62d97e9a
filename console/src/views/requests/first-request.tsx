import { useQuery } from "@tanstack/react-query";
import { mintCopy } from "../../api/graph/identities.ts";
import { tokensQuery, useServer } from "../../api/queries.ts";
import { Code, CopyButton, Empty } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

/** A request to copy and send, shown while the list of requests is empty. */
export function FirstRequest({ isFiltered }: { readonly isFiltered: boolean }) {
  const world = useWorld();
  const server = useServer(world);
  const tokens = useQuery(tokensQuery(world)).data?.data;
  if (isFiltered) return <Empty title="No request matches the filter" />;
  const token = tokens?.find(({ type, revoked_at }) => type === "page" && revoked_at === 0) ?? tokens?.find(({ revoked_at }) => revoked_at === 0);
  if (server === undefined || token === undefined)
    return (
      <Empty title="No request yet">
        <p>Requests appear here as they arrive. To send some, load a world file, or create an app and a token.</p>
      </Empty>
    );
  const node = token.page ?? token.user ?? token.social_account ?? token.app;
  const line = (value: string): string => {
    const places = `access_token=${value}&oauth_token=${value}`;
    const path = token.page === undefined ? `${node}?access_token=${value}` : `${node}/custom_labels?${places}`;
    return `curl -H 'Authorization: Bearer ${value}' '${server.base_url}/${server.newest_version}/${path}'`;
  };
  return (
    <Empty title="No request yet">
      <p>
        Requests appear here as they arrive. Paste this one into a terminal
        {token.token === undefined && "; its token is a copy that is valid for ten minutes"}.
      </p>
      <Code label="A first request" text={line(token.token ?? "$TOKEN")} />
      <div className="actions">
        <CopyButton label="Copy the request" text={async () => line(token.token ?? (await mintCopy(world, token.id)))} />
      </div>
    </Empty>
  );
}
