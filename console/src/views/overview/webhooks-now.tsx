/** The panel that shows whether webhooks arrive, and why one does not arrive. */
import { Link } from "@tanstack/react-router";
import type { List } from "../../api/lists.ts";
import { countOf, Skeleton, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { useCallbacks } from "../webhooks/callbacks.ts";
import type { Delivery } from "../webhooks/deliveries.ts";
import { CallbackStatus, DeliveryStatus } from "../webhooks/statuses.tsx";
import { Panel } from "./panel.tsx";

/** The statuses whose numbers are shown, with the colour of a number above zero. */
const STATUSES = [
  ["failed", "bad"],
  ["waiting", "warn"],
  ["delivered", "good"],
] as const;
const CALLBACKS = 2;
const SHOWN = 3;
const isDone = ({ status }: Delivery): boolean => status === "delivered" || status === "unsubscribed";

export function WebhooksNow({ deliveries: { rows, isLoaded } }: { readonly deliveries: List<Delivery> }) {
  const w = useWorld();
  const callbacks = useCallbacks(w).data?.data;
  const troubled = callbacks?.filter(({ status }) => status !== "working") ?? [];
  const open = rows.filter((one) => !isDone(one)).slice(0, SHOWN);
  return (
    <Panel title="Webhooks" more={<Link to="/webhooks">All webhooks</Link>}>
      {isLoaded && rows.length === 0 && (
        <p className="quiet">
          No webhooks yet. Plaza sends one when an event happens to which an app is subscribed.{" "}
          <Link to="/webhooks" search={{ open: "trigger" }}>
            Trigger an event
          </Link>
        </p>
      )}
      {!isLoaded && <Skeleton />}
      {rows.length > 0 && (
        <p className="figures">
          {STATUSES.map(([status, className]) => {
            const count = rows.filter((one) => one.status === status).length;
            return (
              <Link key={status} to="/webhooks" search={{ status }} className={count === 0 ? "quiet" : className}>
                <strong>{count}</strong> {status}
              </Link>
            );
          })}
        </p>
      )}
      {troubled.length > 0 && (
        <ul className="plain-list">
          {troubled.slice(0, CALLBACKS).map((callback) => (
            <li key={callback.id} className="one-line">
              <CallbackStatus {...callback} />{" "}
              <Link to="/webhooks" search={{ callback: callback.id, open: "callback" }}>
                {callback.url}
              </Link>
            </li>
          ))}
          {troubled.length > CALLBACKS && <li className="quiet">and {countOf(troubled.length - CALLBACKS, "callback")} more</li>}
        </ul>
      )}
      {open.length > 0 && (
        <ul className="plain-list">
          {open.map((delivery) => (
            <li key={delivery.id} className="one-line">
              <WorldTime seconds={delivery.time} /> <DeliveryStatus {...delivery} />{" "}
              <Link to="/webhooks" search={{ delivery: delivery.id }}>
                {delivery.object} {delivery.field}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
