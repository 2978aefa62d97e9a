/**
 * The interface through which the server makes traces (D-356). `telemetry/tracing.ts` makes the spans with OpenTelemetry. If tracing is off, no
 * `Tracing` exists, and a request takes only a few more comparisons than without this interface.
 */

/** The ids of a trace and of a span in it, in the form of W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate: string | null;
}

/** The attributes of a span. The value of an attribute must not contain a secret, a parameter of a request, or a value of an SQL statement. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

type SpanKind = "internal" | "server" | "client";

export interface SpanStart {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /**
   * The span that caused the new span, perhaps in another process. If the parent is absent, the new span's parent is the span in which the caller
   * runs.
   */
  readonly parent?: TraceContext | undefined;
  /** Further spans that caused the new span. */
  readonly links?: readonly TraceContext[];
}

/** A span that has begun. */
export interface OpenSpan {
  set(attributes: Attributes): void;
  /** Begins a step inside the span, and ends the span's previous step. Spans that begin after this call belong to the new step. */
  step(name: string): void;
  /** Marks the span and its current step as failed. `error` is the name of the error that made the span fail. */
  fail(error: string): void;
}

export interface Tracing {
  /** Runs `work` in a new span, which ends when the promise of `work` settles. If the promise of `work` rejects, the span is marked as failed. */
  run<T>(name: string, start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /**
   * Begins a span for an SQL statement inside the caller's span, and returns the function that ends the new span. The result is undefined if no span
   * records the caller's work.
   */
  begin(name: string, attributes: Attributes): ((error?: unknown) => void) | undefined;
  /** Returns a function that calls `work` in the span in which the caller of `bind` runs. */
  bind<A, T>(work: (argument: A) => T): (argument: A) => T;
  /** The span in which the caller runs. Requests to other servers and work that runs later refer to this span. */
  current(): TraceContext | undefined;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[!-~]*)?$/;
/** The number of characters in a `traceparent`. Later versions of the format may add fields to the 55 characters of version 00. */
const TRACEPARENT_CHARACTERS = 55;
const TRACEPARENT_CHARACTERS_MAX = 128;
/**
 * The limits for the characters and members of a `tracestate`. The specification asks programs to pass on at least this many characters and members.
 */
const TRACESTATE_CHARACTERS_MAX = 512;
const MEMBERS_MAX = 32;
const MEMBER = /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

/**
 * Reads the trace context that a caller sent. The result is undefined if the caller sent no context or an invalid one; then the request begins a new
 * trace. A `tracestate` that is invalid or too long is ignored.
 */
export function traceContextOf(traceparent: string | undefined, tracestate: string | undefined): TraceContext | undefined {
  if (traceparent === undefined || traceparent.length > TRACEPARENT_CHARACTERS_MAX || !TRACEPARENT.test(traceparent)) return undefined;
  if (traceparent.startsWith("00") && traceparent.length > TRACEPARENT_CHARACTERS) return undefined;
  return { traceparent, tracestate: tracestate === undefined ? null : validState(tracestate) };
}

function validState(text: string): string | null {
  if (text.length > TRACESTATE_CHARACTERS_MAX) return null;
  const members = text
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
  const keys = new Set(members.map((member) => member.split("=", 1)[0]));
  const isValid = members.length > 0 && members.length <= MEMBERS_MAX && keys.size === members.length && members.every((one) => MEMBER.test(one));
  return isValid ? members.join(",") : null;
}
