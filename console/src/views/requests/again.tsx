import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { mintCopy } from "../../api/graph/identities.ts";
import { requestAnew, type Sendable, send } from "../../api/graph/request-anew.ts";
import { snippets } from "../../api/graph/snippets.ts";
import { tokensQuery, useServer } from "../../api/queries.ts";
import { Identity } from "../../parts/identity.tsx";
import { ownerOf } from "../../parts/named.tsx";
import { say, sayProblem } from "../../parts/notices.tsx";
import { CopyButton } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { useWorld } from "../../shell/world.ts";
import type { StoriedRequest } from "./request-detail.tsx";

/** Sends a request of the log once more, with a copy of its token or of another token of the same app. */
export function Again({ request, onSent }: { readonly request: StoriedRequest; readonly onSent: (trace: string) => void }) {
  const world = useWorld();
  const server = useServer(world);
  const now = useWorldNow(world)?.now ?? 0;
  const tokens = useQuery(tokensQuery(world)).data?.data ?? [];
  const [chosen, choose] = useState<string>();
  const alive = tokens.filter(({ revoked_at }) => revoked_at === 0);
  const had = request.story?.credentials.find(({ token }) => token !== undefined);
  // The request's own token. If that token was a copy or is no longer valid, the console chooses another token of the same kind, or a token
  // of the same app.
  const found = alive.find(({ id }) => id === had?.token) ?? alive.find(({ type, app }) => type === had?.type && app === had.app);
  const own = alive.filter(({ app }) => app === request.app);
  // If the log does not say which token the request had, the console chooses a token of a node whose id is in the path, such as a page.
  const named = own.find((token) => request.path.split("/").includes(ownerOf(token).id));
  const identity = chosen ?? (found ?? named ?? own[0] ?? alive[0])?.id;
  const anew = async (): Promise<Sendable> => {
    if (server === undefined) throw new Error("the server's addresses are not known yet");
    if (identity === undefined) throw new Error("the world has no valid token");
    return requestAnew(request, server, await mintCopy(world, identity));
  };
  const sendAgain = async (): Promise<void> => {
    try {
      const { status, trace } = await send(await anew());
      say(`Sent: ${status}`, status >= 400);
      if (trace !== undefined) onSent(trace);
    } catch (error) {
      sayProblem(error);
    }
  };
  return (
    <div className="actions">
      <Identity label="Token for sending it again" tokens={alive} now={now} chosen={identity} onChoose={choose} />
      <button type="button" onClick={() => void sendAgain()}>
        Send again
      </button>
      {request.operation !== "unknown" && (
        <Link to="/explorer" search={({ world: of }) => ({ world: of, operation: request.operation, id: request.story?.node?.id })}>
          Open in the explorer
        </Link>
      )}
      <CopyButton label="Copy as curl" text={async () => snippets.curl(await anew())} />
    </div>
  );
}
