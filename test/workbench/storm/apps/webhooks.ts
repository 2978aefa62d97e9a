/** Apps that receive webhooks, each with one mistake. */
import type { World } from "#testing/index";
import { type App, Client, until } from "./client.ts";

interface Message {
  readonly n: number;
  readonly text: string;
}

const send = (world: World, n: number, text: string): Promise<unknown> =>
  world.inApp.chatapp({ account: "4001", field: "messages", value: { n, text } });

const receiver = (world: World) =>
  world.webhooks.receive({ app: "1001", subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] });

/** The app creates a persona for each message; its mistake is to do so again for a message that is delivered a second time. */
export const answersTwice: App = async (world, hasMistake) => {
  const client = new Client(world);
  const hook = await receiver(world);
  const known = new Set<string>();
  const answers: Promise<unknown>[] = [];
  hook.respond = (webhook) => {
    if (hasMistake || !known.has(webhook.id)) for (const { value } of webhook.events) answers.push(client.createPersona((value as Message).text));
    known.add(webhook.id);
    return 200;
  };
  await send(world, 1, "hello");
  await until(() => answers.length > 0, "the answer");
  // A second copy of the webhook arrives right after the first; when all due work of the world is done, it has arrived.
  await world.clock.advance(0);
  await Promise.all(answers);
};

/** The app keeps the newest state of a thread; its mistake is to take the order of arrival for the order of events. */
export const trustsOrder: App = async (world, hasMistake) => {
  const hook = await receiver(world);
  let state: Message = { n: 0, text: "" };
  const seen = new Set<number>();
  hook.respond = ({ events }) => {
    for (const { value } of events as readonly { value: Message }[]) {
      if (hasMistake || value.n > state.n) state = value;
      seen.add(value.n);
    }
    return 200;
  };
  await send(world, 1, "open");
  await send(world, 2, "closed");
  await until(() => seen.size === 2, "the second message");
  if (state.text !== "closed") throw new Error(`the thread is ${state.text}, not closed`);
};

/** The app counts messages; its mistake is to read only the first message of a webhook. */
export const readsFirstChange: App = async (world, hasMistake) => {
  const hook = await receiver(world);
  const seen = new Set<number>();
  hook.respond = ({ events }) => {
    for (const { value } of (hasMistake ? events.slice(0, 1) : events) as readonly { value: Message }[]) seen.add(value.n);
    return 200;
  };
  for (const n of [1, 2, 3]) await send(world, n, "hello");
  await until(() => seen.size === 3, "the third message");
};

/** The app waits for the webhook of its label; its mistake is never to read the labels. */
export const waitsForever: App = async (world, hasMistake) => {
  const client = new Client(world);
  const hook = await world.webhooks.receive({ app: "1001", subscriptions: [{ object: "page", fields: ["custom_labels"] }] });
  await client.createLabel("vip");
  const isTold = () => hook.webhooks.length > 0;
  if (hasMistake) return until(isTold, "the webhook");
  // If no webhook arrives, the app without the mistake reads the labels after a while.
  await until(isTold, "the webhook").catch(async () => {
    if ((await client.labels()).length !== 1) throw new Error("the label does not exist");
  });
};
