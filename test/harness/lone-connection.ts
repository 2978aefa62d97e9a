/** A connection on a socket that is none: every byte, turn and answer is the test's to decide. */
import type { Socket } from "bun";
import { Connection, type ConnectionOwner, type Received } from "#http/http1/connection";
import type { RequestHead } from "#http/http1/head";
import { defaultLimits, type HttpLimits } from "#http/limits";
import type { GraphError } from "#kernel/errors";

/** A socket that takes a part of what it is given, and notes everything. */
class Line {
  written = "";
  readonly said: string[] = [];
  feature = Number.POSITIVE_INFINITY;
  readonly remoteAddress = "127.0.0.1";

  write(data: string | Uint8Array): number {
    const bytes = Buffer.from(data as string);
    const taken = Math.min(this.feature, bytes.length);
    this.feature -= taken;
    this.written += bytes.toString("latin1", 0, taken);
    return taken;
  }

  shutdown = () => this.said.push("shutdown");
  end = () => this.said.push("end");
  terminate = () => this.said.push("terminate");
  pause = () => this.said.push("pause");
  resume = () => this.said.push("resume");
}

export interface Seen {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** A server that notes its requests and answers each with `!`, at once or a little later. */
export class Owner implements ConnectionOwner {
  readonly limits: HttpLimits;
  isStopping = false;
  readonly seen: Seen[] = [];
  readonly refused: GraphError[] = [];
  readonly line = new Line();
  readonly connection: Connection;
  readonly #isLate: boolean;

  constructor(limits: Partial<HttpLimits> = {}, isLate = false) {
    this.limits = { ...defaultLimits, ...limits };
    this.#isLate = isLate;
    this.connection = new Connection(this.line as unknown as Socket<unknown>, this);
  }

  take(head: RequestHead, connection: Connection): void {
    const received = head.framing === 0 ? { bytes: new Uint8Array() } : connection.receiveBody(this.limits.bodyBytesMax, this.limits.bodyMsMax, true);
    if (this.#isLate || received instanceof Promise) void this.#respondLater(head, received);
    else this.#response(head, received);
  }

  async #respondLater(head: RequestHead, received: Received | Promise<Received>): Promise<void> {
    this.#response(head, await received);
  }

  #response({ method, target, raw }: RequestHead, received: Received): void {
    if (received === "gone") return;
    const body = "defect" in received ? received.defect.message : Buffer.from(received.bytes).toString("latin1");
    this.seen.push({ method, target, headers: raw, body });
    const { isLast } = this.connection;
    this.connection.writeText(isLast ? "last!" : "!", isLast ? 5 : 1);
    this.connection.responded(isLast);
  }

  refusal(error: GraphError): string {
    this.refused.push(error);
    return "refused!";
  }

  forget(): void {}

  /** Sends the parts, each in a turn of its own. */
  async send(...parts: readonly string[]): Promise<void> {
    for (const part of parts) {
      this.connection.came(Buffer.from(part, "latin1"));
      await turns(2);
    }
  }
}

/** Gives the calls that are answered later time to be. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}
