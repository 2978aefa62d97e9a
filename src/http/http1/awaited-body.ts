/** A body that did not come with its head: it has a time and, with all that is arriving, a memory within which it must be complete. */
import type { BodyEnd, IncomingBody } from "./incoming-body.ts";
import type { ReceiveBuffer } from "./receive-buffer.ts";

/** `gone`: the client has closed, or has ended its side before the end of the body. */
export type ReceivedBody = BodyEnd | "gone";

interface AwaitedBodyOptions {
  readonly msMax: number;
  /** Whether so many bytes of it may be held. */
  hasCapacity(bytes: number): boolean;
  /** Called once. */
  ended(body: ReceivedBody): void;
}

export class AwaitedBody {
  readonly #body: IncomingBody;
  readonly #buffer: ReceiveBuffer;
  readonly #options: AwaitedBodyOptions;
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(body: IncomingBody, buffer: ReceiveBuffer, options: AwaitedBodyOptions) {
    this.#body = body;
    this.#buffer = buffer;
    this.#options = options;
    const { msMax } = options;
    // A timer because only it can notice that nothing comes; a client must not hold memory by sending slowly.
    this.#timer = setTimeout(() => this.end({ problem: { kind: "body-too-slow", msMax } }), msMax);
  }

  /** More of it may be in the buffer. */
  advance(): void {
    if (!this.#options.hasCapacity(this.#body.byteCount + this.#buffer.length)) {
      this.end({ problem: { kind: "no-capacity" } });
      return;
    }
    const end = this.#body.advance(this.#buffer);
    if (end !== undefined) this.end(end);
  }

  end(body: ReceivedBody): void {
    clearTimeout(this.#timer);
    this.#options.ended(body);
  }
}
