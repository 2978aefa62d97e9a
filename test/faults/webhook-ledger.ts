/** Records the acknowledged events and the arrived webhooks, which are the two sides of at-least-once delivery (D-62). */
import { expect } from "bun:test";
import { isProving } from "#harness/proof";
import type { Server } from "#harness/server";
import { type ReceiverProcess, SECRET } from "../webhooks/receiver-process.ts";
import type { LogEntry } from "../webhooks/webhook-receiver.ts";

const ACCOUNTS = Array.from({ length: 50 }, (_, at) => String(4_001 + at));

export const worldOf = (receiver: ReceiverProcess) => ({
  apps: [
    { id: "1001", secret: SECRET, callback: { url: receiver.url }, subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] },
  ],
  chatapp_accounts: ACCOUNTS.map((id) => ({ id, subscribed_apps: [{ app: "1001" }] })),
});

export class Ledger {
  /** The numbers of the events whose requests the server acknowledged. */
  readonly acknowledged = new Set<number>();
  readonly #taken = new Map<number, number>();
  readonly #ids = new Map<number, Set<string>>();
  #made = 0;

  /**
   * One writer of events, which writes until `isOver` returns true or the server is gone. Any failure but a lost connection or a busy database fails
   * the test.
   */
  async write(server: Server, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const n = this.#made++;
      const account = ACCOUNTS[n % ACCOUNTS.length];
      let response: Response;
      try {
        response = await fetch(`${server.control_url}/v1/worlds/default/in-app/chatapp`, {
          method: "POST",
          headers: { authorization: `Bearer ${server.control_key}`, "content-type": "application/json" },
          body: JSON.stringify({ account, field: "messages", value: { n, text: "Grüße" } }),
        });
      } catch {
        return;
      }
      if (response.ok) this.acknowledged.add(n);
      else if (response.status !== 503) throw new Error(`${response.status} ${await response.text()}`);
      else await Bun.sleep(20);
    }
  }

  /** Waits until the server has acknowledged this number of further events. */
  async grows(events: number): Promise<void> {
    const wanted = this.acknowledged.size + events;
    while (this.acknowledged.size < wanted) await Bun.sleep(1);
  }

  read(log: readonly LogEntry[]): void {
    for (const { numbers, webhook_id, is_taken } of log) {
      for (const n of numbers) {
        if (is_taken) this.#taken.set(n, (this.#taken.get(n) ?? 0) + 1);
        this.#ids.set(n, (this.#ids.get(n) ?? new Set()).add(webhook_id));
      }
    }
  }

  missing(): number[] {
    return [...this.acknowledged].filter((n) => !this.#taken.has(n));
  }

  /**
   * Checks D-62: each acknowledged event has arrived, each webhook has kept its `webhook-id`, and at most one event in a hundred has arrived twice.
   */
  check(): { events: number; twice: number } {
    expect(this.missing()).toEqual([]);
    expect([...this.#ids].filter(([, ids]) => ids.size !== 1)).toEqual([]);
    const twice = [...this.#taken.values()].filter((times) => times > 1).length;
    if (isProving) console.log(`${this.acknowledged.size} events, ${twice} of them twice`);
    // If there are few events and the machine is busy, more of them are under way at each kill, so the strict limit holds only over many kills.
    expect(twice / this.acknowledged.size).toBeLessThanOrEqual(isProving ? 0.01 : 0.2);
    return { events: this.acknowledged.size, twice };
  }
}

async function control(server: Server, path: string, body: object): Promise<unknown> {
  const response = await fetch(`${server.control_url}/v1/worlds/default/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.control_key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** From here on, the receiver accepts every webhook, because the server gives up a webhook that fails in its last attempt. */
export async function settle(server: Server, ledger: Ledger, receiver: ReceiverProcess, withinMs = 20_000): Promise<void> {
  // The receiver stops failing, because the server gives up a webhook after the last retry.
  await receiver.fail(0);
  const endMs = performance.now() + withinMs;
  for (;;) {
    await control(server, "clock/advance", { seconds: 3_600 });
    ledger.read(await receiver.log());
    if (ledger.missing().length === 0 || performance.now() > endMs) return;
    await Bun.sleep(200);
  }
}
