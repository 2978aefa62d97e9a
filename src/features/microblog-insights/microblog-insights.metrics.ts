/** The metrics of media (F1) and of users (F2), with their titles and descriptions (D-54). */
export const mediaMetrics = ["views", "likes", "replies", "reposts", "quotes", "shares"] as const;
export type MediaMetric = (typeof mediaMetrics)[number];

export const userMetrics = ["views", "likes", "replies", "reposts", "quotes", "clicks", "followers_count", "follower_demographics"] as const;
export type UserMetric = (typeof userMetrics)[number];

/**
 * The metrics for which a world file can have activities. The number of followers is not among these metrics, because followers have a section of
 * their own in world files.
 */
export const recordedMetrics = ["views", "likes", "replies", "reposts", "quotes", "shares", "clicks"] as const;
export type RecordedMetric = (typeof recordedMetrics)[number];

export const breakdowns = ["country", "city", "age", "gender"] as const;
export type Breakdown = (typeof breakdowns)[number];

export const titles: Readonly<Record<MediaMetric | UserMetric, { readonly title: string; readonly description: string }>> = {
  views: { title: "Views", description: "The number of views." },
  likes: { title: "Likes", description: "The number of likes." },
  replies: { title: "Replies", description: "The number of replies." },
  reposts: { title: "Reposts", description: "The number of reposts." },
  quotes: { title: "Quotes", description: "The number of quotes." },
  shares: { title: "Shares", description: "The number of shares." },
  clicks: { title: "Clicks", description: "The number of clicks on each link." },
  followers_count: { title: "Followers", description: "The number of followers of the user." },
  follower_demographics: { title: "Follower demographics", description: "The followers by the breakdown." },
};

export const DAY_SECONDS = 86_400;

/** Returns the day of a time: the number of days since 1970 in UTC (D-54). */
export const dayOf = (seconds: number): number => Math.floor(seconds / DAY_SECONDS);
