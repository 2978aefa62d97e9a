import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect, retainSearchParams } from "@tanstack/react-router";
import { NoView } from "./shell/missing.tsx";
import { Shell } from "./shell/shell.tsx";
import { Overview } from "./views/overview/overview.tsx";

/** The given parameters of the address's query, as texts. Empty parameters are left out. */
const textsOf = <K extends string>(search: Record<string, unknown>, ...names: readonly K[]): { [name in K]?: string | undefined } =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name];
      return value === undefined || value === "" ? [] : [[name, String(value)]];
    }),
  ) as { [name in K]?: string | undefined };

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NoView,
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "world"),
  search: { middlewares: [retainSearchParams(["world"])] },
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/overview" });
  },
});

const overviewRoute = createRoute({ getParentRoute: () => root, path: "/overview", component: Overview });

const requestsRoute = createRoute({
  getParentRoute: () => root,
  path: "/requests",
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "status", "method", "operation", "app", "search", "request"),
  component: lazyRouteComponent(() => import("./views/requests/requests.tsx"), "Requests"),
});

const webhooksRoute = createRoute({
  getParentRoute: () => root,
  path: "/webhooks",
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "status", "callback", "field", "delivery", "open"),
  component: lazyRouteComponent(() => import("./views/webhooks/webhooks.tsx"), "Webhooks"),
});

const explorerRoute = createRoute({
  getParentRoute: () => root,
  path: "/explorer",
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "operation", "id", "find", "as"),
  component: lazyRouteComponent(() => import("./views/explorer/explorer.tsx"), "Explorer"),
});

const graphRoute = createRoute({
  getParentRoute: () => root,
  path: "/graph",
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "kind", "id"),
  component: lazyRouteComponent(() => import("./views/graph/graph.tsx"), "Graph"),
});

const tokensRoute = createRoute({
  getParentRoute: () => root,
  path: "/tokens",
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "token"),
  component: lazyRouteComponent(() => import("./views/tokens/tokens.tsx"), "Tokens"),
});

const timeRoute = createRoute({
  getParentRoute: () => root,
  path: "/time",
  component: lazyRouteComponent(() => import("./views/time/time.tsx"), "Time"),
});

const versionsRoute = createRoute({
  getParentRoute: () => root,
  path: "/versions",
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "at"),
  component: lazyRouteComponent(() => import("./views/versions/versions.tsx"), "Versions"),
});

const phoneRoute = createRoute({
  getParentRoute: () => root,
  path: "/phone",
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "account"),
  component: lazyRouteComponent(() => import("./views/phone/phone.tsx"), "Phone"),
});

const eventsRoute = createRoute({
  getParentRoute: () => root,
  path: "/events",
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "app", "device"),
  component: lazyRouteComponent(() => import("./views/events/events.tsx"), "Events"),
});

const liveRoute = createRoute({
  getParentRoute: () => root,
  path: "/live",
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "video"),
  component: lazyRouteComponent(() => import("./views/live/live.tsx"), "Live"),
});

const feedsRoute = createRoute({
  getParentRoute: () => root,
  path: "/feeds",
  validateSearch: (search: Record<string, unknown>) => textsOf(search, "feed", "upload"),
  component: lazyRouteComponent(() => import("./views/feeds/feeds.tsx"), "Feeds"),
});

const faultsRoute = createRoute({
  getParentRoute: () => root,
  path: "/faults",
  component: lazyRouteComponent(() => import("./views/faults/faults.tsx"), "Faults"),
});

const worldsRoute = createRoute({
  getParentRoute: () => root,
  path: "/worlds",
  component: lazyRouteComponent(() => import("./views/worlds/worlds.tsx"), "Worlds"),
});

const settingsRoute = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("./views/settings/settings.tsx"), "Settings"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    overviewRoute,
    requestsRoute,
    webhooksRoute,
    explorerRoute,
    graphRoute,
    tokensRoute,
    timeRoute,
    versionsRoute,
    phoneRoute,
    eventsRoute,
    liveRoute,
    feedsRoute,
    faultsRoute,
    worldsRoute,
    settingsRoute,
  ]),
  defaultPreload: "intent",
  // Ids stay texts, even if they look like numbers.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(
      Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
    ).toString();
    return text === "" ? "" : `?${text}`;
  },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
