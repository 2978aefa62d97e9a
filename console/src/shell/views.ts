/** The views, in the order of the navigation. */
export const views = [
  { path: "/overview", name: "Overview", about: "recent requests, problems, and what is due next" },
  { path: "/requests", name: "Requests", about: "each request, and the reason for its response" },
  { path: "/explorer", name: "Explorer", about: "every operation as a form, and the same request as code" },
  { path: "/graph", name: "Graph", about: "nodes of every kind: find, create, change, delete" },
  { path: "/webhooks", name: "Webhooks", about: "callbacks and their health, deliveries, and why they wait" },
  { path: "/events", name: "App events", about: "events as they arrive, with verdicts, names and sums" },
  { path: "/live", name: "Live", about: "broadcasts and their encoders" },
  { path: "/feeds", name: "Feeds", about: "files that fill catalogs, and why rows were rejected" },
  { path: "/phone", name: "Phone", about: "a person in the app, and the webhooks they cause" },
  { path: "/tokens", name: "Tokens", about: "create and revoke tokens, and see their permissions" },
  { path: "/time", name: "Time", about: "the world's clock and scheduled work" },
  { path: "/versions", name: "Versions", about: "lifetimes of versions, and the effect of a later date on apps" },
  { path: "/worlds", name: "Worlds", about: "create, save, restore, reset and delete worlds" },
  { path: "/faults", name: "Faults", about: "make requests and webhooks fail on purpose" },
  { path: "/settings", name: "Settings", about: "addresses, theme, control keys, retention, export" },
] as const;
