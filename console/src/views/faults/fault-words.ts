/** Texts about faults: their effect and what they apply to. */
export interface FaultWords {
  readonly operation?: string | undefined;
  readonly webhook?: string | undefined;
  readonly node?: string | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly token?: string | undefined;
  readonly status?: number | undefined;
  readonly code?: number | undefined;
  readonly rate_limit?: "app" | "page" | undefined;
  readonly retry_after_seconds?: number | undefined;
  readonly latency_ms?: number | undefined;
  readonly body?: string | undefined;
  readonly content_type?: string | undefined;
  readonly reset?: boolean | undefined;
  readonly cut_body_at?: number | undefined;
  readonly body_bytes_per_second?: number | undefined;
  readonly page_max?: number | undefined;
  readonly revoke_tokens?: boolean | undefined;
  readonly advance_seconds?: number | undefined;
  readonly effect?: "lose" | "repeat" | "reorder" | "delay" | "batch" | undefined;
  readonly skip?: number | undefined;
  readonly times?: number | undefined;
  readonly probability?: number | undefined;
}

const OF_WEBHOOKS = {
  lose: "is lost",
  repeat: "is sent twice",
  reorder: "arrives after later ones",
  delay: "arrives late",
  batch: "waits and arrives in one POST with later ones",
} as const;

/** The requests or webhooks that the fault affects. */
export function targetOf({ operation, webhook, node, query = {}, token }: FaultWords): string {
  const name = operation ?? webhook ?? "*";
  const what = operation === undefined ? (name === "*" ? "any webhook" : `webhooks of ${name}`) : name === "*" ? "any request" : name;
  const parameters = Object.entries(query).map(([key, value]) => `${key}=${value}`);
  return [
    what,
    ...(node === undefined ? [] : [`${operation === undefined ? "about" : "of the node"} ${node}`]),
    ...(parameters.length === 0 ? [] : [`with ${parameters.join(", ")}`]),
    ...(token === undefined ? [] : [`by the token ${token}`]),
  ].join(" ");
}

/** The effect of a fault on a request or webhook. */
export function effectOf(fault: FaultWords): string {
  const { status, code = 2, rate_limit, retry_after_seconds = 60, latency_ms, body, content_type, reset, cut_body_at, effect } = fault;
  const { body_bytes_per_second: slow, page_max, revoke_tokens, advance_seconds } = fault;
  const does = [
    ...(effect === undefined ? [] : [OF_WEBHOOKS[effect]]),
    ...(latency_ms === undefined ? [] : [`is delayed by ${latency_ms} ms`]),
    ...(status === undefined ? [] : [`returns ${status} with code ${code}`]),
    ...(rate_limit === undefined ? [] : [`reports that the ${rate_limit}'s rate limit is reached for ${retry_after_seconds} s`]),
    ...(body === undefined ? [] : ["has another body"]),
    ...(content_type === undefined ? [] : [`has the content type ${content_type}`]),
    ...(cut_body_at === undefined ? [] : [`is cut off after ${cut_body_at} bytes`]),
    ...(slow === undefined ? [] : [`arrives at ${slow} bytes a second`]),
    ...(reset === true ? ["loses its connection"] : []),
    ...(page_max === undefined ? [] : [`has at most ${page_max} items on a page`]),
    ...(revoke_tokens === true ? ["finds its tokens revoked"] : []),
    ...(advance_seconds === undefined ? [] : [`arrives after the clock has moved by ${advance_seconds} s`]),
  ];
  return does.join(", ");
}

/** The number of times that a fault takes effect. */
export function limitOf({ times, probability, skip = 0 }: FaultWords): string {
  const after = skip === 0 ? "" : `, after ${skip} others`;
  const share = probability === undefined ? "" : `, ${Math.round(100 * probability)} % of the matches`;
  return (times === undefined ? "always" : times === 1 ? "once" : `${times} times`) + share + after;
}
