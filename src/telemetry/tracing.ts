/**
 * Traces with OpenTelemetry (D-356). The server loads this module only if the operator names a collector, because the packages of OpenTelemetry take
 * a third of a second to load from their files.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { hostname } from "node:os";
import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { GraphError } from "#kernel/errors";
import type { Attributes, OpenSpan, SpanStart, TraceContext, Tracing } from "#kernel/tracing/tracing";
import { within } from "#kernel/turns";
import { errorFields, type Log } from "./log.ts";
import type { SpanCounts } from "./metrics-report.ts";

export interface TracingOptions {
  /** The address of the OpenTelemetry collector. The exporter appends `/v1/traces` to this address. */
  readonly endpoint: string;
  /**
   * The fraction of the traces that are recorded, from 0 to 1. If the caller of a request has already decided whether the request's trace is
   * recorded, the caller's decision applies instead of this fraction.
   */
  readonly ratio: number;
  readonly version: string;
  readonly log: Log;
}

export interface OpenTracing extends Tracing {
  readonly counts: SpanCounts;
  /** Sends the waiting spans within `ms` at most, and then ends the tracing. */
  stop(ms: number): Promise<void>;
}

/** The maximum number of spans that wait for the collector. A waiting span takes about 1 kB of memory. */
const WAITING_MAX = 8_192;
const BATCH_MAX = 512;
/** The time for which the first span of a batch waits before the batch is sent. */
const SEND_AFTER_MS = 1_000;
/** The time limit for sending one batch, including repeated attempts. */
const SEND_WITHIN_MS = 10_000;
/** The maximum number of links of a span. If a webhook has more events than this, its span links only to the first events. */
const LINKS_MAX = 32;

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

export function openTracing({ endpoint, ratio, version, log }: TracingOptions): OpenTracing {
  const spans = new BoundedSpans(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }), log);
  const own = resourceFromAttributes({ "service.name": "plaza", "service.version": version, "service.instance.id": `${hostname()}:${process.pid}` });
  const provider = new TracerProvider({
    // The standard variables OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES replace Plaza's own attributes.
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanLimits: { linkCountLimit: LINKS_MAX, attributeValueLengthLimit: 2_048 },
    spanProcessors: [spans],
  });
  return new OpenTelemetryTracing(provider.getTracer("plaza", version), spans, provider);
}

/**
 * Passes spans to the batches of OpenTelemetry, and drops spans while too many are waiting. This class is needed because OpenTelemetry's own limit
 * does not count the spans that are being sent, and OpenTelemetry does not report how many spans it has dropped.
 */
class BoundedSpans implements SpanProcessor, SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #log: Log;
  readonly #batches: BatchSpanProcessor;
  readonly counts = { exported: 0, failed: 0, dropped: 0 };
  #waiting = 0;
  #isFailing = false;

  constructor(exporter: SpanExporter, log: Log) {
    this.#exporter = exporter;
    this.#log = log;
    this.#batches = new BatchSpanProcessor({
      exporter: this,
      maxQueueSize: WAITING_MAX,
      maxExportBatchSize: BATCH_MAX,
      scheduledDelayMillis: SEND_AFTER_MS,
      exportTimeoutMillis: 2 * SEND_WITHIN_MS,
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.#waiting >= WAITING_MAX) {
      this.counts.dropped++;
      return;
    }
    this.#waiting++;
    this.#batches.onEnd(span);
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter["export"]>[1]): void {
    this.#exporter.export(spans, (result) => {
      this.#waiting -= spans.length;
      const hasFailed = result.code !== 0;
      this.counts[hasFailed ? "failed" : "exported"] += spans.length;
      if (hasFailed && !this.#isFailing)
        this.#log.warn(errorFields(result.error), "the collector does not accept traces; spans are dropped until the collector accepts them");
      if (!hasFailed && this.#isFailing) this.#log.info({ ...this.counts }, "the collector accepts traces again");
      this.#isFailing = hasFailed;
      done(result);
    });
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  /** Waits for the batches that are being sent, then closes the connections. */
  async shutdown(): Promise<void> {
    await this.#exporter.shutdown();
  }
}

/** A span of a trace during which code runs, with the current step of this code. */
class ActiveSpan implements OpenSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;
  #step: Span | undefined;
  isOver = false;

  constructor(tracer: Tracer, span: Span) {
    this.#tracer = tracer;
    this.#span = span;
    this.#context = trace.setSpan(ROOT_CONTEXT, span);
  }

  get isRecording(): boolean {
    return !this.isOver && this.#span.isRecording();
  }

  /** The context for spans inside this span. */
  get context(): Context {
    return this.#step === undefined ? this.#context : trace.setSpan(ROOT_CONTEXT, this.#step);
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  step(name: string): void {
    this.#step?.end();
    if (this.isRecording) this.#step = this.#tracer.startSpan(name, {}, this.#context);
  }

  fail(error: string): void {
    for (const span of [this.#step, this.#span]) {
      span?.setAttribute("error.type", error);
      span?.setStatus({ code: SpanStatusCode.ERROR });
    }
  }

  end(): void {
    this.#step?.end();
    this.#span.end();
    this.isOver = true;
  }
}

class OpenTelemetryTracing implements OpenTracing {
  readonly #tracer: Tracer;
  readonly #spans: BoundedSpans;
  readonly #provider: TracerProvider;
  readonly #active = new AsyncLocalStorage<ActiveSpan>();

  constructor(tracer: Tracer, spans: BoundedSpans, provider: TracerProvider) {
    this.#tracer = tracer;
    this.#spans = spans;
    this.#provider = provider;
  }

  get counts(): SpanCounts {
    return this.#spans.counts;
  }

  async run<T>(name: string, start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T> {
    const { kind = "internal", attributes = {}, links = [] } = start;
    const parent = "parent" in start ? contextOf(start.parent) : this.#open?.context;
    const options = {
      kind: KINDS[kind],
      attributes,
      links: links
        .slice(0, LINKS_MAX)
        .flatMap((link) => trace.getSpanContext(contextOf(link)) ?? [])
        .map((context) => ({ context })),
    };
    const span = new ActiveSpan(this.#tracer, this.#tracer.startSpan(name, options, parent ?? ROOT_CONTEXT));
    try {
      return await this.#active.run(span, () => work(span));
    } catch (error) {
      span.fail(nameOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  begin(name: string, attributes: Attributes): ((error?: unknown) => void) | undefined {
    const around = this.#open;
    if (around === undefined || !around.isRecording) return undefined;
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, around.context);
    return (error) => {
      if (error !== undefined) span.setAttribute("error.type", nameOf(error)).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
  }

  bind<A, T>(work: (argument: A) => T): (argument: A) => T {
    const active = this.#open;
    return active === undefined ? work : (argument) => this.#active.run(active, () => work(argument));
  }

  current(): TraceContext | undefined {
    const context = this.#open?.context;
    const span = context === undefined ? undefined : trace.getSpanContext(context);
    if (span === undefined) return undefined;
    const flags = (span.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, "0");
    return { traceparent: `00-${span.traceId}-${span.spanId}-${flags}`, tracestate: span.traceState?.serialize() || null };
  }

  async stop(ms: number): Promise<void> {
    const flush = async (): Promise<void> => {
      await this.#provider.forceFlush();
      await this.#provider.shutdown();
    };
    await within(
      flush().catch(() => {}),
      ms,
    );
  }

  /** The span in which the caller runs; undefined if this span has ended, because work that began in a request may outlive the request. */
  get #open(): ActiveSpan | undefined {
    const active = this.#active.getStore();
    return active === undefined || active.isOver ? undefined : active;
  }
}

/** Returns the context of a span of another process. The function does not check the text of `context`, because the caller has checked it. */
function contextOf(context: TraceContext | undefined): Context {
  if (context === undefined) return ROOT_CONTEXT;
  const [, traceId = "", spanId = "", flags = "00"] = context.traceparent.split("-");
  const traceState = context.tracestate === null ? {} : { traceState: createTraceState(context.tracestate) };
  // The flags of the trace context are a hexadecimal number.
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...traceState,
  });
}

/** Returns the name of an error without its message, because a message may repeat text that a caller sent. */
const nameOf = (error: unknown): string => (error instanceof GraphError ? error.errorName : error instanceof Error ? error.name : "unknown");
