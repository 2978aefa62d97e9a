/** The first view: recent activity, problems, and scheduled work. */
import { Link } from "@tanstack/react-router";
import { useAlerts } from "../../api/alerts.ts";
import { useTailBySecond } from "../../api/tail.ts";
import { AlertList } from "../../parts/alert-list.tsx";
import { useWorld } from "../../shell/world.ts";
import { FirstRequest } from "../requests/first-request.tsx";
import { Callers } from "./callers.tsx";
import { DueNext } from "./due-next.tsx";
import { LatestErrors } from "./latest-errors.tsx";
import { LiveNow } from "./live-now.tsx";
import { Panel } from "./panel.tsx";
import { RequestRate } from "./request-rate.tsx";
import { NotServed } from "./unserved.tsx";
import { WebhooksNow } from "./webhooks-now.tsx";

export function Overview() {
  const world = useWorld();
  const tail = useTailBySecond();
  const isEmpty = tail.isLoaded && tail.lines.length === 0;
  return (
    <div className="scroll">
      <div className="overview">
        <Panel title="Requests" more={<Link to="/requests">All requests</Link>}>
          {isEmpty ? <FirstRequest isFiltered={false} /> : <RequestRate tail={tail} />}
        </Panel>
        <Attention world={world} />
        <LatestErrors tail={tail} />
        <NotServed tail={tail} />
        <WebhooksNow />
        <DueNext />
        <LiveNow />
        <Callers tail={tail} />
      </div>
    </div>
  );
}

function Attention({ world }: { readonly world: string }) {
  const alerts = useAlerts(world);
  return (
    <Panel title="Needs attention">
      {alerts?.length === 0 && <p className="good">✓ Nothing needs attention.</p>}
      {alerts?.length === 0 && (
        <p className="quiet">Failing callbacks, failed requests, versions that end soon, faults and interrupted broadcasts appear here.</p>
      )}
      {alerts !== undefined && alerts.length > 0 && <AlertList alerts={alerts} />}
    </Panel>
  );
}
