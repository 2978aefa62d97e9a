/** Icons of `console/icons.svg`, which the page contains. A word beside each icon says the same as the icon. */
export type IconName = (typeof VIEW_ICONS)[keyof typeof VIEW_ICONS] | (typeof KIND_ICONS)[keyof typeof KIND_ICONS] | Sign;

type Sign = "bell" | "book-open" | "check" | "circle-alert" | "copy" | "menu" | "pause" | "play" | "plug" | "plus" | "search" | "x";

export const VIEW_ICONS = {
  "/overview": "layout-dashboard",
  "/requests": "arrow-left-right",
  "/explorer": "compass",
  "/graph": "network",
  "/webhooks": "webhook",
  "/events": "activity",
  "/live": "radio",
  "/feeds": "package",
  "/phone": "smartphone",
  "/tokens": "key-round",
  "/time": "clock",
  "/versions": "git-branch",
  "/worlds": "globe",
  "/faults": "zap",
  "/settings": "settings",
} as const;

/** The icons of nodes, by the name of their kind in a world file. */
const KIND_ICONS = {
  ads: "box",
  apps: "app-window",
  businesses: "briefcase",
  catalogs: "shopping-bag",
  chatapp_accounts: "message-circle",
  labels: "tag",
  live_comments: "message-circle",
  live_reactions: "box",
  live_videos: "radio",
  media: "image",
  microblog_media: "image",
  microblog_users: "at-sign",
  migration_intents: "box",
  pages: "flag",
  personas: "user-round",
  phone_numbers: "phone",
  places: "map-pin",
  product_feeds: "package",
  required_actions: "circle-alert",
  social_accounts: "at-sign",
  solutions: "box",
  users: "user",
} as const;

/** Whether the nodes of a kind can be listed. For example, the people of a page cannot be listed. */
export const isKind = (kind: string): boolean => kind in KIND_ICONS;

export const kindIcon = (kind: string): IconName => KIND_ICONS[kind as keyof typeof KIND_ICONS] ?? "box";

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" aria-hidden="true" focusable="false">
    <use href={`#icon-${name}`} />
  </svg>
);
