import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { deliveryQuery } from "../../api/queries.ts";
import { Block, HttpStatus } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

/** The webhooks that one request caused. */
export function Caused({ ids }: { readonly ids: readonly string[] }) {
  const world = useWorld();
  const deliveries = useQueries({ queries: ids.map((id) => deliveryQuery(world, id)) });
  return (
    <Block title="Caused webhooks">
      {ids.length === 0 && <p className="quiet">No webhook.</p>}
      <ul>
        {deliveries.map(({ data }, at) => (
          <li key={ids[at]}>
            {data === undefined ? (
              ids[at]
            ) : (
              <>
                <Link to="/webhooks" search={({ world: of }) => ({ world: of, delivery: data.id })}>
                  {data.object} {data.field}
                </Link>{" "}
                to {data.callback ?? "nowhere"}: {data.status}
                {data.reason === undefined ? "" : ` (${data.reason})`}{" "}
                {data.attempts.map(({ time, status }) => (status === undefined ? null : <HttpStatus key={time} status={status} />))}
              </>
            )}
          </li>
        ))}
      </ul>
    </Block>
  );
}
