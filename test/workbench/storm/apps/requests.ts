/** Apps that send requests, each with one mistake. */
import { type App, Client } from "./client.ts";

/** The app creates a persona; its mistake is to send the request again after a lost response without checking whether the first one took effect. */
export const retriesBlindly: App = async (world, isBlind) => {
  await new Client(world, { isBlind }).createPersona("Bo");
};

/** The app creates two labels; its mistake is to send a refused request again at once. */
export const hammersRateLimit: App = async (world, isImpatient) => {
  const client = new Client(world, { isImpatient });
  for (const name of ["vip", "regular"]) await client.createLabel(name);
};

/** The app creates two labels; its mistake is to use the token that it began with for both. */
export const keepsDeadToken: App = async (world, keepsToken) => {
  const client = new Client(world, { keepsToken });
  for (const name of ["vip", "regular"]) await client.createLabel(name);
};

/** The app attaches each label of the page to a person; its mistake is to read only the first page of labels. */
export const readsFirstPage: App = async (world, hasMistake) => {
  const client = new Client(world);
  for (const name of ["vip", "regular"]) await client.createLabel(name);
  for (const { id } of await (hasMistake ? client.firstLabels() : client.labels())) await client.attach(id);
  const labels = await world.nodes("labels").list();
  if (!labels.every(({ users }) => users?.includes("9001"))) throw new Error("a label is not attached");
};

/** The app creates a label; its mistake is to believe that the label exists although the server was overloaded. */
export const ignoresOverload: App = async (world, ignores503) => {
  await new Client(world, { ignores503 }).createLabel("vip");
  const labels = await world.nodes("labels").list();
  if (labels.length !== 1) throw new Error("the label vip does not exist");
};

/** The app creates a label and attaches it; its mistake is not to read a response with status 200 to its end. */
export const trustsStatus: App = async (world, hasMistake) => {
  const client = new Client(world, { trustsStatus: hasMistake });
  const { id } = await client.createLabel("vip");
  if (id !== undefined) await client.attach(id);
  const labels = await world.nodes("labels").list();
  if (labels[0]?.users?.length !== 1) throw new Error("nobody has the label vip");
};
