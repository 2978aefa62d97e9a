/**
 * The views of the console, in the order of the navigation: first the views for watching, then those for acting, then those that set the world up.
 */
export const views = [
  { group: "Watch", path: "/overview", name: "Overview", about: "connect your app, recent requests, problems, and work that is due next" },
  { group: "Watch", path: "/requests", name: "Requests", about: "each request, and the reason for its response" },
  { group: "Watch", path: "/webhooks", name: "Webhooks", about: "callbacks and their health, deliveries, and why they wait" },
  { group: "Watch", path: "/events", name: "App events", about: "events as they arrive, with verdicts, names and sums" },
  { group: "Watch", path: "/live", name: "Live", about: "broadcasts and their encoders" },
  { group: "Act", path: "/explorer", name: "Explorer", about: "every operation as a form, and the same request as code" },
  { group: "Act", path: "/graph", name: "Graph", about: "nodes of every kind: find, create, change, delete" },
  { group: "Act", path: "/phone", name: "Phone", about: "a person in the app, and the webhooks they cause" },
  { group: "Act", path: "/feeds", name: "Feeds", about: "files that fill catalogs, and why rows were rejected" },
  { group: "Set", path: "/tokens", name: "Tokens", about: "create and revoke tokens, and see their permissions" },
  { group: "Set", path: "/time", name: "Time", about: "the world's clock and scheduled work" },
  { group: "Set", path: "/versions", name: "Versions", about: "lifetimes of versions, and the effect of a later date on apps" },
  { group: "Set", path: "/worlds", name: "Worlds", about: "create, save, restore, reset and delete worlds" },
  { group: "Set", path: "/faults", name: "Faults", about: "make requests and webhooks fail on purpose" },
  { group: "Set", path: "/settings", name: "Settings", about: "addresses, theme, control keys, retention, export" },
] as const;
