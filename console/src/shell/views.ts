/** The views, in the order of the navigation. */
export const views = [
  { path: "/overview", name: "Overview", about: "what just happened, what needs attention, what is due next" },
  { path: "/requests", name: "Requests", about: "what was asked, and how it came to its response" },
  { path: "/explorer", name: "Explorer", about: "every operation as a form, and the same request as code" },
  { path: "/graph", name: "Graph", about: "nodes of every kind: find, make, change, delete" },
  { path: "/webhooks", name: "Webhooks", about: "callbacks and their health, what was sent, and why something waits" },
  { path: "/events", name: "App events", about: "as they come, with verdicts, names and sums" },
  { path: "/live", name: "Live", about: "broadcasts, and what their encoders send" },
  { path: "/feeds", name: "Feeds", about: "files that fill catalogs, and why a row is no item" },
  { path: "/phone", name: "Phone", about: "the person in the app, and what they cause" },
  { path: "/tokens", name: "Tokens", about: "make, revoke, and what each may" },
  { path: "/time", name: "Time", about: "the world's clock, and what happens by itself next" },
  { path: "/versions", name: "Versions", about: "which live when, and what a later date does to apps" },
  { path: "/worlds", name: "Worlds", about: "make, keep, restore, reset, delete" },
  { path: "/faults", name: "Faults", about: "make requests and webhooks fail on purpose" },
  { path: "/settings", name: "Settings", about: "addresses, look, control keys, retention, export" },
] as const;
