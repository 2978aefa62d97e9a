/** Lists ten apps, each with a mistake that can be switched off, and the fault that reveals the mistake. */
import type { App } from "./client.ts";
import { hammersRateLimit, ignoresOverload, keepsDeadToken, readsFirstPage, retriesBlindly, trustsStatus } from "./requests.ts";
import { answersTwice, readsFirstChange, trustsOrder, waitsForever } from "./webhooks.ts";

export const apps: Readonly<Record<string, { readonly app: App; readonly fault: string }>> = {
  retriesBlindly: { app: retriesBlindly, fault: "createPersona#1=lost-after" },
  hammersRateLimit: { app: hammersRateLimit, fault: "createLabel#1=429" },
  keepsDeadToken: { app: keepsDeadToken, fault: "createLabel#2=token-dies" },
  readsFirstPage: { app: readsFirstPage, fault: "listLabels#1=short-page" },
  ignoresOverload: { app: ignoresOverload, fault: "createLabel#1=503" },
  trustsStatus: { app: trustsStatus, fault: "createLabel#1=cut" },
  answersTwice: { app: answersTwice, fault: "messages#1=twice" },
  trustsOrder: { app: trustsOrder, fault: "messages#1=out-of-order" },
  readsFirstChange: { app: readsFirstChange, fault: "messages#2=batched" },
  waitsForever: { app: waitsForever, fault: "custom_labels#1=lost" },
};
