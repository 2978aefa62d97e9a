import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, dataOf } from "../../api/client.ts";
import { HttpStatus } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

/** The request that caused a webhook, if the log of requests has it. */
export function Maker({ delivery }: { readonly delivery: string }) {
  const w = useWorld();
  const { data } = useQuery({
    queryKey: ["maker", w, delivery],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/requests", { params: { path: { w }, query: { delivery } } })),
  });
  const request = data?.data[0];
  if (data === undefined) return null;
  if (request === undefined)
    return <p className="quiet">The cause is not one of the recorded requests: it is a trigger, background work, or an older request.</p>;
  return (
    <p>
      <Link to="/requests" search={({ world }) => ({ world, request: request.trace_id })}>
        {request.method} {request.path}
      </Link>{" "}
      <HttpStatus status={request.status} />
    </p>
  );
}
