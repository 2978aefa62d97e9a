/** The views, in the order of the navigation. */
export const views = [
  { path: "/requests", name: "Requests", about: "what was asked, and how it came to its response" },
  { path: "/explorer", name: "Explorer", about: "every operation as a form, and the same request as code" },
  { path: "/webhooks", name: "Webhooks", about: "callbacks and their health, what was sent, and why something waits" },
] as const;
