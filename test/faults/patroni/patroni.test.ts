/** A highly available PostgreSQL loses its primary under load. Checks that no acknowledged write is lost. */
import { expect, test } from "bun:test";
import { isProving, tries } from "#harness/proof";
import { type Server, startServer, worldFile } from "#harness/server";
import { startReceiverProcess } from "../../webhooks/receiver-process.ts";
import { Ledger, settle, worldOf } from "../webhook-ledger.ts";
import { PatroniCluster } from "./patroni-cluster.ts";

const WRITERS = 8;
const LOAD_EVENTS = 500;
const PAGE_TOKEN = "page-token";
const APP_TOKEN = "app-token";

const more = {
  pages: [{ id: "2001", name: "Cafe" }],
  tokens: [
    { token: PAGE_TOKEN, type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] },
    { token: APP_TOKEN, type: "app", app: "1001" },
  ],
};

/** The labels and app events that were acknowledged, and the longest time without a new label. */
class Writes {
  readonly labels = new Set<string>();
  events = 0;
  #gapMs = 0;
  #made = 0;
  #lastMs = performance.now();

  async write(server: Server, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const n = this.#made++;
      const page = `${server.base_url}/v26.0/2001/custom_labels?access_token=${PAGE_TOKEN}&oauth_token=${PAGE_TOKEN}`;
      const label = await post(page, { page_label_name: `label ${n}` }, PAGE_TOKEN);
      // If the response was lost but the label was stored, the label is found by its name.
      if (label.status === 200) this.labels.add(String(label.body.id));
      const event = { event: "CUSTOM_APP_EVENTS", advertiser_id: `a${n}`, advertiser_tracking_enabled: 1, application_tracking_enabled: 1 };
      const sent = { ...event, custom_events: [{ _eventName: "bought", event_id: String(n) }] };
      if ((await post(`${server.base_url}/v26.0/1001/activities`, sent, APP_TOKEN)).status === 200) this.events++;
      if (label.status === 200) this.#note();
    }
  }

  /** The longest time without a new label since the previous call. */
  takeGapMs(): number {
    const gapMs = this.#gapMs;
    this.#gapMs = 0;
    return Math.round(gapMs);
  }

  #note(): void {
    const now = performance.now();
    this.#gapMs = Math.max(this.#gapMs, now - this.#lastMs);
    this.#lastMs = now;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
async function post(url: string, body: object, token: string): Promise<{ status: number; body: any }> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "x-forwarded-for": "1.2.3.4" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const json = await response.json();
  if (response.status !== 200 && response.status !== 503) throw new Error(`${response.status} ${JSON.stringify(json)}`);
  if (response.status === 503) await Bun.sleep(50);
  return { status: response.status, body: json };
}

async function allLabels(server: Server): Promise<Set<string>> {
  const ids = new Set<string>();
  let next: string | undefined = `${server.base_url}/v26.0/2001/custom_labels?limit=100&access_token=${PAGE_TOKEN}&oauth_token=${PAGE_TOKEN}`;
  while (next !== undefined) {
    const response: Response = await fetch(next, { headers: { authorization: `Bearer ${PAGE_TOKEN}` } });
    const page = (await response.json()) as { data: { id: string }[]; paging?: { next?: string } };
    for (const { id } of page.data) ids.add(id);
    next = page.paging?.next;
  }
  return ids;
}

async function eventsOf(server: Server): Promise<number> {
  const response = await fetch(`${server.control_url}/v1/worlds/default/app-events/1001/names`, {
    headers: { authorization: `Bearer ${server.control_key}` },
  });
  const { data } = (await response.json()) as { data: { name: string; count: number }[] };
  return data.find(({ name }) => name === "bought")?.count ?? 0;
}

test(
  "switchover and crash under load: every acknowledged write, event and webhook exists, through the proxy and the names of both hosts",
  async () => {
    const cluster = await PatroniCluster.start();
    const database = await cluster.newDatabase();
    const receiver = await startReceiverProcess(0);
    const settings = { PLAZA_LABELS_PER_PAGE_MAX: "1000000" };
    const world = worldFile({ ...worldOf(receiver), ...more });
    const one = await startServer(["--data", cluster.proxyUrl(database), "--world", world], settings);
    const other = await startServer(["--data", cluster.hostsUrl(database)], settings);
    const [ledger, writes] = [new Ledger(), new Writes()];
    let isOver = false;
    const writers = [one, other].flatMap((server) => [
      ...Array.from({ length: WRITERS / 2 }, () => ledger.write(server, () => isOver)),
      ...Array.from({ length: WRITERS / 2 }, () => writes.write(server, () => isOver)),
    ]);
    const working = Promise.all(writers);
    const load = () => Promise.race([ledger.grows(LOAD_EVENTS), working]);
    const gaps = { switchover: [] as number[], crash: [] as number[] };
    await load();
    for (let round = 0; round < tries(1, 5); round++) {
      writes.takeGapMs();
      await cluster.switchOver();
      await load();
      gaps.switchover.push(writes.takeGapMs());
      await cluster.crash();
      await load();
      gaps.crash.push(writes.takeGapMs());
    }
    isOver = true;
    await working;
    await settle(one, ledger, receiver, 60_000);
    ledger.check();
    const stored = await allLabels(other);
    expect([...writes.labels].filter((id) => !stored.has(id))).toEqual([]);
    expect(await eventsOf(one)).toBeGreaterThanOrEqual(writes.events);
    console.log(
      `${ledger.acknowledged.size} webhook events, ${writes.labels.size} labels, ${writes.events} app events; ms without a write: ` +
        `${gaps.switchover.join(", ")} at a switchover, ${gaps.crash.join(", ")} at a crash`,
    );
  },
  isProving ? 900_000 : 240_000,
);
