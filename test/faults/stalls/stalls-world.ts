/** Worlds in which every list has more than its largest page. */
import { world as sampleWorld } from "#openapi/samples";

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const scopes = sampleWorld.tokens[0]?.scopes ?? [];

/** `part` is the size of the lists, as a fraction of the size in a large world. */
const worldOf = (part: number) => ({
  ...sampleWorld,
  labels: [...sampleWorld.labels, ...many(5_000 * part, (at) => ({ id: String(500_100 + at), page: "2001", name: `label ${at}`, users: ["9001"] }))],
  personas: [
    ...sampleWorld.personas,
    ...many(1_000 * part, (at) => ({ id: String(510_100 + at), page: "2001", name: `Bo ${at}`, profile_picture_url: "https://example.com/bo.png" })),
  ],
  live_comments: many(3_000 * part, (at) => ({ id: String(540_100 + at), live_video: "5301", from: "3001", message: "hi" })),
  media: [...sampleWorld.media, ...many(2_000 * part, (at) => ({ id: String(610_200 + at), owner: "6002", tagged: ["6001"] }))],
  activity: many(5_000 * part, (at) => ({ target: "7101", metric: "views", time: 1_794_000_000 + at, value: 1 })),
  /** The token belongs to another app, which shares nothing with the other apps. */
  tokens: [...sampleWorld.tokens, { token: "other", type: "page", app: "1002", page: "2002", user: "3002", scopes }],
});

/** The world is large, so that work that grows with the size of the world takes long. */
export const stallsWorld = worldOf(1);
/** A world for tests that compare two requests to the same world. */
export const smallStallsWorld = worldOf(1 / 5);

/** Moves deletions to the end, because other loads need the nodes that deletions remove. */
export const deletionsLast = <T extends { readonly work: string }>(loads: readonly T[]): T[] => {
  const isDeletion = ({ work }: T): boolean => /^(delete|erase|reset|restore|unsubscribe|end|detach)/.test(work);
  return [...loads.filter((load) => !isDeletion(load)), ...loads.filter(isDeletion)];
};
