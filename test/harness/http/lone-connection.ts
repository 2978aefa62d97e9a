/** An HTTP connection without a socket: the test decides every byte, every turn of the event loop and every response. */
import { Connection, type ConnectionLimits, type ConnectionOwner } from "#http/http1/connection";
import type { ReceivedBody } from "#http/http1/incoming-body";
import type { ProtocolProblem, RequestHead } from "#http/http1/request-head";
import { type ByteSocket, Turn } from "#http/http1/send-buffer";
import { defaultLimits, parserHeaderBytesMax } from "#http/limits";

/** A socket that accepts as many bytes at once as the test says, and records everything. */
class Line implements ByteSocket {
  written = "";
  readonly events: string[] = [];
  capacity = Number.POSITIVE_INFINITY;
  readonly remoteAddress = "127.0.0.1";

  write(data: string | Uint8Array): number {
    const bytes = Buffer.from(data as string);
    const taken = Math.min(this.capacity, bytes.length);
    this.capacity -= taken;
    this.written += bytes.toString("latin1", 0, taken);
    return taken;
  }

  shutdown = () => void this.events.push("shutdown");
  end = () => void this.events.push("end");
  terminate = () => void this.events.push("terminate");
  pause = () => void this.events.push("pause");
  resume = () => void this.events.push("resume");
}

export interface Seen {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: string;
  /** The reason why the server refused the request body. */
  readonly problem?: ProtocolProblem["kind"];
}

export interface OwnerOptions extends Partial<ConnectionLimits> {
  readonly bodyBytesMax?: number;
  /** The server responds in a later turn of the event loop, not at once. */
  readonly isLate?: boolean;
}

/** A server that records its requests, and returns 204 for each. */
export class Owner implements ConnectionOwner<Connection> {
  readonly limits: ConnectionLimits;
  /** The time of the clock, which is stopped until a test moves it. */
  timeMs = 0;
  readonly clock = { monotonicMs: () => this.timeMs, nowMs: () => 0, afterTurn: (run: () => void) => run() };
  readonly turn = new Turn(this.clock);
  readonly commonHeaderLines = "";
  isStopping = false;
  /** The heads of all requests, also of requests whose body did not arrive. */
  readonly heads: RequestHead[] = [];
  readonly seen: Seen[] = [];
  readonly refused: ProtocolProblem[] = [];
  /** The number of bytes that the connection has received and not processed, plus the sent bytes that the client has not accepted. */
  heldBytes = 0;
  readonly line = new Line();
  readonly connection: Connection;
  readonly #bodyBytesMax: number;
  readonly #isLate: boolean;

  constructor({ bodyBytesMax = defaultLimits.bodyBytesMax, isLate = false, ...limits }: OwnerOptions = {}) {
    const { headMsMax, keepAliveMs } = defaultLimits;
    this.limits = { headBytesMax: parserHeaderBytesMax(defaultLimits), headMsMax, keepAliveMs, ...limits };
    this.#bodyBytesMax = bodyBytesMax;
    this.#isLate = isLate;
    this.connection = new Connection(this.line, this);
  }

  dispatch(head: RequestHead, connection: Connection): void {
    this.heads.push(head);
    const received =
      head.framing === 0
        ? { bytes: new Uint8Array() }
        : (connection.receiveBody(this.#bodyBytesMax) ?? connection.awaitBody(defaultLimits.bodyMsMax, () => true));
    if (this.#isLate || received instanceof Promise) void this.#respondLater(head, received);
    else this.#respond(head, received);
  }

  async #respondLater(head: RequestHead, received: ReceivedBody | Promise<ReceivedBody>): Promise<void> {
    this.#respond(head, await received);
  }

  #respond({ method, target, headers }: RequestHead, received: ReceivedBody): void {
    if (received === "gone") return;
    const body = "problem" in received ? { body: "", problem: received.problem.kind } : { body: Buffer.from(received.bytes).toString("latin1") };
    this.seen.push({ method, target: target.text, headers, ...body });
    this.connection.send({ status: 204, headers: {}, body: "" });
    this.connection.finish();
  }

  refusal(problem: ProtocolProblem): { status: number; headers: Record<string, string>; body: string } {
    this.refused.push(problem);
    return { status: 400, headers: {}, body: "" };
  }

  closed(): void {}

  held(bytes: number): void {
    this.heldBytes += bytes;
  }

  /** A short form of the sent bytes: `!` for a response, `last!` for a response that ends the connection, `refused!` for a refusal. */
  get responses(): string {
    return this.line.written.replace(/HTTP\/1\.1 (\d+).*?\r\n\r\n/gs, (head, status) =>
      status === "400" ? "refused!" : /connection: close/.test(head) ? "last!" : "!",
    );
  }

  /** Moves the time forward. */
  pass(ms: number): void {
    this.timeMs += ms;
    this.connection.checkTime(this.timeMs);
  }

  /** Sends the parts of a request, each in a turn of the event loop of its own. */
  async send(...parts: readonly string[]): Promise<void> {
    for (const part of parts) {
      this.connection.received(Buffer.from(part, "latin1"));
      await turns(2);
    }
  }
}

/** Waits some turns of the event loop, so that requests with late responses get their responses. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}
