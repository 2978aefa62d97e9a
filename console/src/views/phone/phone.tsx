import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { listNodes } from "../../api/graph/nodes.ts";
import { Named } from "../../parts/named.tsx";
import { Empty, Skeleton, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { useDeliveries } from "../webhooks/deliveries.ts";
import { DeliveryStatus } from "../webhooks/statuses.tsx";
import { Comments } from "./comments.tsx";
import { Thread } from "./thread.tsx";

const route = getRouteApi("/phone");
const ALL = {};

/** The view of a person who uses the social app. Beside the person, it shows the webhooks that the person causes. */
export function Phone() {
  const w = useWorld();
  const { account } = route.useSearch();
  const navigate = route.useNavigate();
  const accounts = useQuery({ queryKey: ["nodes", w, "social_accounts", "phone"], queryFn: () => listNodes(w, "social_accounts", undefined) }).data
    ?.data;
  const { rows } = useDeliveries(w, ALL);
  const chosen = accounts?.find(({ id }) => id === account) ?? accounts?.[0];
  const id = chosen === undefined ? undefined : String(chosen.id);
  const scoped = typeof chosen?.social_scoped_id === "string" ? chosen.social_scoped_id : undefined;
  const caused = useMemo(() => rows.filter(({ entity }) => entity === id || entity === scoped), [rows, id, scoped]);
  if (accounts === undefined) return <Skeleton lines={6} />;
  if (chosen === undefined || id === undefined)
    return (
      <Empty title="No account in the app">
        <p>
          A person in the app is a social account with a username, a social-scoped id and a page.{" "}
          <Link to="/graph" search={({ world }) => ({ world, kind: "social_accounts", id: "new" })}>
            Create an account
          </Link>
        </p>
      </Empty>
    );
  return (
    <>
      <div className="bar">
        <label>
          Phone of
          <select value={id} onChange={({ target }) => void navigate({ search: (before) => ({ ...before, account: target.value }), replace: true })}>
            {accounts.map((one) => (
              <option key={String(one.id)} value={String(one.id)}>
                {String(one.username ?? one.id)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <div className="phone-view">
        <div className="phone">
          <Thread key={`${w} ${id}`} account={id} />
          <Comments key={`comments ${w} ${id}`} account={id} />
        </div>
        <section className="scroll" aria-label="Webhooks of this account" tabIndex={0}>
          <h2 className="phone-head">Webhooks</h2>
          {caused.length === 0 && (
            <p className="phone-head quiet">
              No webhook yet. An app gets webhooks if it is subscribed to messages and comments, connected to the account, and has a token of the
              account.
            </p>
          )}
          <ul className="phone-webhooks">
            {caused.map((one) => (
              <li key={one.id}>
                <WorldTime seconds={one.time} />{" "}
                <Link to="/webhooks" search={({ world }) => ({ world, delivery: one.id })}>
                  {one.field}
                </Link>{" "}
                to app <Named kind="apps" id={one.app} /> <DeliveryStatus {...one} />
              </li>
            ))}
          </ul>
        </section>
      </div>
    </>
  );
}
