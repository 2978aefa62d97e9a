/** The first view: how to connect an app, what happened last and why, what needs attention, and what is due next. */
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useAlerts } from "../../api/alerts.ts";
import { useTailBySecond } from "../../api/tail.ts";
import { AlertList } from "../../parts/alert-list.tsx";
import { Skeleton } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { useDeliveries } from "../webhooks/deliveries.ts";
import { DueNext } from "./due-next.tsx";
import { LastRequests } from "./last-requests.tsx";
import { Panel } from "./panel.tsx";
import { WebhooksNow } from "./webhooks-now.tsx";

/** These panels are loaded on demand, so that the lists that a person looks at first do not wait for them. */
const Connect = lazy(() => import("../connect/connect.tsx").then(({ Connect: component }) => ({ default: component })));
const Callers = lazy(() => import("./callers.tsx").then(({ Callers: component }) => ({ default: component })));
const RequestRate = lazy(() => import("./request-rate.tsx").then(({ RequestRate: component }) => ({ default: component })));
const NotServed = lazy(() => import("./unserved.tsx").then(({ NotServed: component }) => ({ default: component })));
const LiveNow = lazy(() => import("./live-now.tsx").then(({ LiveNow: component }) => ({ default: component })));

const ALL = {};

export function Overview() {
  const world = useWorld();
  const tail = useTailBySecond();
  const deliveries = useDeliveries(world, ALL);
  const isConnected = tail.lines.length > 0 && deliveries.rows.some(({ status }) => status === "delivered");
  const isKnown = tail.isLoaded && deliveries.isLoaded;
  return (
    <div className="scroll">
      <div className="overview">
        <div>
          <Panel title="Last requests" more={<Link to="/requests">All requests</Link>}>
            <LastRequests tail={tail} />
          </Panel>
          {isKnown && !isConnected && <ConnectPanel isOpen />}
          {tail.lines.length > 0 && (
            <Suspense>
              <NotServed tail={tail} />
              <RequestRate tail={tail} />
              <Callers tail={tail} />
            </Suspense>
          )}
          {isKnown && isConnected && <ConnectPanel isOpen={false} />}
        </div>
        <div>
          <Attention world={world} />
          <WebhooksNow deliveries={deliveries} />
          <DueNext />
          <Suspense>
            <LiveNow />
          </Suspense>
        </div>
      </div>
    </div>
  );
}

/** The guide folds away once a request and a webhook have succeeded, and can be opened again below. */
function ConnectPanel({ isOpen }: { readonly isOpen: boolean }) {
  return (
    <details className="block" open={isOpen}>
      <summary>
        <h2>Connect your app</h2>
      </summary>
      <Suspense fallback={<Skeleton lines={8} />}>
        <Connect />
      </Suspense>
    </details>
  );
}

function Attention({ world }: { readonly world: string }) {
  const alerts = useAlerts(world);
  return (
    <Panel title="Needs attention">
      {alerts === undefined && <Skeleton lines={2} />}
      {alerts?.length === 0 && <p className="good">✓ Nothing needs attention.</p>}
      {alerts !== undefined && alerts.length > 0 && <AlertList alerts={alerts} />}
    </Panel>
  );
}
