/**
 * How a range of time is made of few sums (D-54). Every count is kept by second, minute, hour, day, 32 days and 1,024 days. A range to
 * the second has at each end at most 59 seconds, 59 minutes, 23 hours, 31 days and 31 times 32 days, and between them the spans of
 * 1,024 days, of which a century has 36. So it reads about 400 sums at most, however many activities there were.
 */
import { DAY_SECONDS } from "./microblog-insights.metrics.ts";

/** In seconds, the finest first. Each divides the next; a sum starts at a multiple of its span. */
export const SPANS = [1, 60, 3_600, DAY_SECONDS, 32 * DAY_SECONDS, 1_024 * DAY_SECONDS] as const;
export const LONGEST_SPAN = SPANS[SPANS.length - 1] as number;

/** After every moment that a world file can name. */
export const END_OF_TIME = Number.MAX_SAFE_INTEGER;

/** The sums of one span that start from `from` on and before `to`; there may be none. */
export interface Stretch {
  readonly span: number;
  readonly from: number;
  readonly to: number;
}

/** The sums that together are [since, until): two stretches of each span, and one of the longest. */
export function stretchesOf(since: number, until: number): Stretch[] {
  const stretches: Stretch[] = [];
  let [from, to] = [since, Math.max(since, until)];
  for (let at = 1; at < SPANS.length; at++) {
    const [span, longer] = [SPANS[at - 1] as number, SPANS[at] as number];
    const inner = Math.min(Math.ceil(from / longer) * longer, to);
    const outer = to === END_OF_TIME ? to : Math.max(Math.floor(to / longer) * longer, inner);
    stretches.push({ span, from, to: inner }, { span, from: outer, to });
    [from, to] = [inner, outer];
  }
  return [...stretches, { span: LONGEST_SPAN, from, to }];
}
