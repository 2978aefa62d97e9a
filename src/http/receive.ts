/** Takes a body from the socket, within its limits of size and time. Nothing above the limit is ever kept. */
import type { IncomingMessage } from "node:http";
import { bodyTooLarge, type GraphError, requestTooSlow } from "#kernel/errors";

export type Received = { readonly bytes: Uint8Array } | { readonly defect: GraphError } | "gone";

/** `"gone"` when the caller hung up: nobody is there to be answered. */
export function receiveBody(incoming: IncomingMessage, bytesMax: number, msMax: number): Promise<Received> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (received: Received): void => {
      clearTimeout(timer);
      incoming.removeListener("data", take);
      resolve(received);
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > bytesMax) settle({ defect: bodyTooLarge(bytesMax) });
      else chunks.push(chunk);
    };
    // A timer because only it can notice that nothing comes; a caller must not hold memory by sending slowly.
    const timer = setTimeout(() => settle({ defect: requestTooSlow(msMax) }), msMax);
    incoming.on("data", take);
    incoming.on("end", () => settle({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size) }));
    incoming.on("error", () => settle("gone"));
    incoming.on("close", () => settle("gone"));
  });
}
