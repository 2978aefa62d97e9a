/** Deliveries as the commands print them. */
import { printable } from "../terminal/output.ts";

export interface Delivery {
  readonly id: string;
  readonly app: string;
  readonly callback?: string;
  readonly object: string;
  readonly field: string;
  readonly entity: string;
  readonly status: string;
  readonly reason?: string;
  readonly updates: number;
  /** Unix seconds. */
  readonly time: number;
  readonly attempts: readonly { readonly status?: number; readonly latency_ms?: number; readonly error?: string }[];
}

/** `501 app 1001 http://…: delivered 200 in 3 ms`. */
export function lineOf({ id, app, callback, status, reason, attempts }: Delivery): string {
  const last = attempts.at(-1);
  const response = last === undefined ? "" : ` ${last.status ?? last.error}${last.latency_ms === undefined ? "" : ` in ${last.latency_ms} ms`}`;
  return printable(`${id} app ${app} ${callback ?? "(no callback)"}: ${status}${reason === undefined ? "" : ` (${reason})`}${response}`);
}
