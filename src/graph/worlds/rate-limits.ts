/**
 * D-22: counts requests in a token bucket for each app and page, if the operator has set a rate. Responses have the usage headers even if no rate is
 * set.
 */
import { BoundedMap } from "#kernel/bounded-map";
import { appRateLimited, edgeRateLimited, type GraphError } from "#kernel/errors";

export interface RateLimitConfig {
  /** The number of requests that an app may send in an hour. 0 means no limit. */
  readonly app_calls_per_hour: number;
  readonly page_calls_per_hour: number;
}

interface Bucket {
  tokens: number;
  filledMs: number;
}

const HOUR_MS = 3_600_000;
/**
 * The greatest number of token buckets that are stored. The least recently used bucket can be dropped, because the bucket of an app or page without
 * requests is full again after an hour.
 */
const BUCKETS_MAX = 10_000;

export class RateLimits {
  readonly #config: RateLimitConfig;
  readonly #buckets = new BoundedMap<string, Bucket>(BUCKETS_MAX);

  constructor(config: RateLimitConfig) {
    this.#config = config;
  }

  /**
   * Takes one request from the app's bucket and one from the page's bucket. If a bucket is empty, the result is the error about the exceeded rate
   * limit.
   */
  take(app: string, owner: string, nowMs: number): GraphError | undefined {
    const { app_calls_per_hour, page_calls_per_hour } = this.#config;
    if (app_calls_per_hour > 0) {
      const waitSeconds = this.#takeOne(`app ${app}`, app_calls_per_hour, nowMs);
      if (waitSeconds > 0) return appRateLimited(waitSeconds);
    }
    if (page_calls_per_hour > 0) {
      const waitSeconds = this.#takeOne(`page ${owner}`, page_calls_per_hour, nowMs);
      if (waitSeconds > 0) return edgeRateLimited(waitSeconds);
    }
    return undefined;
  }

  /** Resets all counts of requests, so that every app and page may send its full number of requests again. */
  clear(): void {
    this.#buckets.clear();
  }

  /** The percentage of the app's hourly requests that are used. */
  appUsage(app: string): number {
    return this.#usage(`app ${app}`, this.#config.app_calls_per_hour);
  }

  pageUsage(owner: string): number {
    return this.#usage(`page ${owner}`, this.#config.page_calls_per_hour);
  }

  /** The number of minutes until the page may get its next request. 0 if it may get one now. */
  pageWaitMinutes(owner: string): number {
    const rate = this.#config.page_calls_per_hour;
    const bucket = rate > 0 ? this.#buckets.get(`page ${owner}`) : undefined;
    return bucket === undefined || bucket.tokens >= 1 ? 0 : Math.ceil(((1 - bucket.tokens) * 60) / rate);
  }

  #usage(key: string, rate: number): number {
    const bucket = rate > 0 ? this.#buckets.get(key) : undefined;
    return bucket === undefined ? 0 : Math.min(100, Math.ceil(100 - (100 * bucket.tokens) / rate));
  }

  /** Takes one request from a token bucket. Returns 0 if the bucket has a request, or else the number of seconds until it has one again. */
  #takeOne(key: string, rate: number, nowMs: number): number {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: rate, filledMs: nowMs };
      this.#buckets.set(key, bucket);
    }
    // If the clock is moved back, the token bucket is not filled.
    bucket.tokens = Math.min(rate, bucket.tokens + (Math.max(0, nowMs - bucket.filledMs) * rate) / HOUR_MS);
    bucket.filledMs = nowMs;
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) * HOUR_MS) / rate / 1_000);
    bucket.tokens -= 1;
    return 0;
  }
}
