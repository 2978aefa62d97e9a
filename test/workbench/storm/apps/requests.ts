/** Apps that send requests, each with one mistake. */
import { type App, Client } from "./client.ts";

/** Creates a persona, and sends the request again after a lost response without checking whether the first one took effect. */
export const retriesBlindly: App = async (world, isBlind) => {
  await new Client(world, { isBlind }).createPersona("Bo");
};

/** Creates two labels, and sends a refused request again at once. */
export const hammersRateLimit: App = async (world, isImpatient) => {
  const client = new Client(world, { isImpatient });
  for (const name of ["vip", "regular"]) await client.createLabel(name);
};

/** Creates two labels with the token that it began with. */
export const keepsDeadToken: App = async (world, keepsToken) => {
  const client = new Client(world, { keepsToken });
  for (const name of ["vip", "regular"]) await client.createLabel(name);
};

/** Attaches each label of the page to a person, but reads the first page of labels only. */
export const readsFirstPage: App = async (world, hasMistake) => {
  const client = new Client(world);
  for (const name of ["vip", "regular"]) await client.createLabel(name);
  for (const { id } of await (hasMistake ? client.firstLabels() : client.labels())) await client.attach(id);
  const labels = await world.nodes("labels").list();
  if (!labels.every(({ users }) => users?.includes("9001"))) throw new Error("a label is not attached");
};

/** Creates a label, and believes that it exists when the server was overloaded. */
export const ignoresOverload: App = async (world, ignores503) => {
  await new Client(world, { ignores503 }).createLabel("vip");
  const labels = await world.nodes("labels").list();
  if (labels.length !== 1) throw new Error("the label vip does not exist");
};

/** Creates a label and attaches it, but does not read a response whose status is 200 to its end. */
export const trustsStatus: App = async (world, hasMistake) => {
  const client = new Client(world, { trustsStatus: hasMistake });
  const { id } = await client.createLabel("vip");
  if (id !== undefined) await client.attach(id);
  const labels = await world.nodes("labels").list();
  if (labels[0]?.users?.length !== 1) throw new Error("nobody has the label vip");
};
