/** Pages that are shown if a view, a world or a server does not exist. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiProblem } from "../api/client.ts";
import { clockQuery, worldsQuery } from "../api/queries.ts";
import { lastLiveMs } from "../api/tail.ts";
import { agoText, Nothing } from "../parts/texts.tsx";
import { useNowMs } from "./clock.tsx";
import { useWorld } from "./world.ts";

export function NoView() {
  return (
    <Nothing isWhole title="This view does not exist">
      <p>Ctrl K finds a view by its name.</p>
      <Link to="/overview" search={({ world }) => ({ world })}>
        Overview
      </Link>
    </Nothing>
  );
}

/** Shows a view only in a world that exists. */
export function WorldThere({ children }: { readonly children: ReactNode }) {
  const world = useWorld();
  const { error } = useQuery(clockQuery(world));
  const worlds = useQuery(worldsQuery).data?.data ?? [];
  if (!(error instanceof ApiProblem && error.status === 404)) return children;
  return (
    <Nothing title={`The world ${world} does not exist`}>
      <p>It was deleted, or its name is misspelt. This server has:</p>
      <ul className="plain-list">
        {worlds.map(({ name }) => (
          <li key={name}>
            <Link to="/overview" search={{ world: name }}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
      <Link to="/worlds" search={{ world: undefined }}>
        Create a world
      </Link>
    </Nothing>
  );
}

/** Shown while the console cannot connect to the server. When the stream of requests has connected again, the view comes back. */
export function ServerGone() {
  const nowMs = useNowMs();
  const seenMs = lastLiveMs();
  return (
    <Nothing isWhole title="The server cannot be reached">
      <p>
        {seenMs === undefined ? (
          "The server has not answered yet."
        ) : (
          <>
            It was last seen at {new Date(seenMs).toLocaleTimeString()}, {agoText(seenMs / 1000, nowMs / 1000)}.
          </>
        )}{" "}
        This page comes back with the server, and keeps what you have typed.
      </p>
    </Nothing>
  );
}
