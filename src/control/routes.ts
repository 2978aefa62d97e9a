/** All routes of the control API: first the server's own routes, then the routes of the features. */

import type { ControlRoute } from "#control-contract/route";
import type { WorldSection } from "#graph/contract/feature";
import type { Registry } from "#graph/contract/registry";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { alertRoutes } from "./routes/alerts/alerts.ts";
import { clockRoutes } from "./routes/clock.ts";
import { webhookExpectationRoutes } from "./routes/expectations/webhooks.ts";
import { faultRoutes } from "./routes/faults.ts";
import { auditRoutes } from "./routes/keys/audit.ts";
import { keyRoutes } from "./routes/keys/keys.ts";
import { sealingKeyRoutes } from "./routes/keys/sealing-key.ts";
import { nodeRoutes } from "./routes/nodes.ts";
import { operationRoutes } from "./routes/operations.ts";
import { peopleRoutes } from "./routes/people/people.ts";
import { requestRoutes } from "./routes/requests/requests.ts";
import { serverRoutes } from "./routes/server.ts";
import { tokenRoutes } from "./routes/tokens.ts";
import { unservedRoutes } from "./routes/unserved.ts";
import { versionRoutes } from "./routes/versions.ts";
import { deliveryLogRoutes } from "./routes/webhooks/delivery-log.ts";
import { triggerRoutes } from "./routes/webhooks/trigger.ts";
import { webhookRoutes } from "./routes/webhooks/webhooks.ts";
import { snapshotRoutes } from "./routes/worlds/snapshots.ts";
import { worldRoutes } from "./routes/worlds/worlds.ts";

/** Lists all routes. Throws if two routes have the same address or the same operation name. */
export function controlRoutes(registry: Registry): readonly ControlRoute[] {
  const { features, webhookFields } = registry;
  const apps = sectionsOf(registry).find(({ key }) => key === "apps") as WorldSection;
  const routes = [
    ...serverRoutes,
    ...operationRoutes,
    ...worldRoutes,
    ...snapshotRoutes,
    ...nodeRoutes,
    ...peopleRoutes,
    ...tokenRoutes,
    ...keyRoutes,
    ...auditRoutes,
    ...sealingKeyRoutes,
    ...clockRoutes,
    ...versionRoutes,
    ...alertRoutes,
    ...requestRoutes,
    ...unservedRoutes,
    ...faultRoutes,
    ...webhookRoutes,
    ...deliveryLogRoutes,
    ...webhookExpectationRoutes,
    ...triggerRoutes(webhookFields, apps),
    ...features.flatMap((feature) => feature.controlRoutes ?? []),
  ];
  requireDistinct(routes.map(({ operation }) => `the operation ${operation}`));
  requireDistinct(routes.map(addressOf));
  return routes;
}

/** Returns the address of a route for comparisons, without the names of placeholders, because two placeholders match the same paths. */
const addressOf = ({ method, path }: ControlRoute): string => `the address ${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`;

function requireDistinct(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two routes of the control API have ${twice}`);
}
