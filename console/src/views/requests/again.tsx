import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { tokensQuery, useServer } from "../../api/queries.ts";
import { say, sayProblem } from "../../parts/notices.tsx";
import { CopyButton } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { mintCopy } from "./identities.ts";
import { curlOf, requestAnew, type Sendable, send } from "./request-anew.ts";
import type { StoriedRequest } from "./request-detail.tsx";

/** The same request once more, with a copy of the token that it had, or of another one of its app. */
export function Again({ request, onSent }: { readonly request: StoriedRequest; readonly onSent: (trace: string) => void }) {
  const world = useWorld();
  const server = useServer();
  const tokens = useQuery(tokensQuery(world)).data?.data ?? [];
  const [chosen, choose] = useState<string>();
  const alive = tokens.filter(({ revoked_at }) => revoked_at === 0);
  const had = request.story?.credentials.find(({ token }) => token !== undefined);
  // The token itself; or where that was a copy or is no longer valid, one of its kind; or one of the app.
  const found = alive.find(({ id }) => id === had?.token) ?? alive.find(({ type, app }) => type === had?.type && app === had.app);
  const identity = chosen ?? (found ?? alive.find(({ app }) => app === request.app) ?? alive[0])?.id;
  const anew = async (): Promise<Sendable> => {
    if (server === undefined) throw new Error("the server's addresses are not known yet");
    if (identity === undefined) throw new Error("the world has no token that is valid");
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
      <label>
        <span className="hidden">Token for sending it again</span>
        <select value={identity ?? ""} onChange={(event) => choose(event.target.value)}>
          {identity === undefined && <option value="">no token</option>}
          {alive.map(({ id, type, app, page, user, social_account, microblog_user }) => (
            <option key={id} value={id}>
              {type} {page ?? user ?? social_account ?? microblog_user ?? ""} · app {app}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => void sendAgain()}>
        Send again
      </button>
      <CopyButton label="Copy as curl" text={async () => curlOf(await anew())} />
    </div>
  );
}
