/** Ordinary uses of the library for Node. Prints one JSON object: what each use returned, by its name. */
const { createServer } = require("node:http");
const { join } = require("node:path");

const given = JSON.parse(process.argv[2]);
const library = require(join(process.argv[3], "facebook-nodejs-business-sdk"));
const XHubSignature = require(join(process.argv[3], "x-hub-signature"));

/** The library's own classes, whose names begin with the name of its platform. */
const classOf = (ending) => Object.entries(library).find(([name]) => name.endsWith(ending))[1];
const Api = classOf("AdsApi");
const Batch = classOf("AdsApiBatch");
const { Application, Page, Persona, ProductCatalog, ProductFeed, ProductFeedUpload, User } = library;

let version = "v26.0";
// If the library gets no address, it calls the host that it has built in.
if (given.base_url !== undefined) Object.defineProperty(Api, "GRAPH", { get: () => given.base_url });
Object.defineProperty(Api, "VERSION", { get: () => version });

const apiOf = (token) => new Api(token, "en_US", false);
const pageApi = apiOf("page-token");
const userApi = apiOf("user-token");
const appApi = apiOf("app-token");
const nodeOf = (Type, id, api) => new Type(id, {}, undefined, api);

const uses = {};

async function readNodes() {
  const page = await nodeOf(Page, "2001", pageApi).read(["id", "name", "fan_count", "about"]);
  uses["read a page with fields that Plaza does not serve"] = page.exportAllData();
  uses["read the user of a token"] = (await nodeOf(User, "me", userApi).read(["id", "name"])).exportAllData();
}

async function labelPeople() {
  const page = nodeOf(Page, "2001", pageApi);
  const labels = [];
  for (const name of ["first", "second", "third"]) labels.push(await page.createCustomLabel([], { page_label_name: name }));
  uses["create labels"] = labels.map((label) => label.exportAllData().name);
  const names = [];
  let cursor = await page.getCustomLabels(["name"], { limit: 1 });
  for (;;) {
    names.push(...cursor.map((label) => label.name));
    if (!cursor.hasNext()) break;
    cursor = await cursor.next();
  }
  uses["page through labels"] = names;
  await pageApi.call("DELETE", [labels[0].id]);
  uses["delete a label"] = (await page.getCustomLabels(["name"])).map(({ name }) => name);
}

async function personas() {
  const page = nodeOf(Page, "2001", pageApi);
  const created = await page.createPersona([], { name: "Bo", profile_picture_url: "https://example.com/bo.png" });
  uses["create a persona and read it"] = (await nodeOf(Persona, created.id, pageApi).read(["name"])).name;
  uses["list personas"] = (await page.getPersonas(["name"])).map(({ name }) => name);
}

async function catalogs() {
  const { id } = await userApi.call("POST", ["2001", "owned_product_catalogs"], { name: "Books" }, {}, false, given.ads_base_url);
  const catalog = nodeOf(ProductCatalog, id, userApi);
  const { name, vertical } = await catalog.read(["id", "name", "vertical", "product_count"]);
  uses["create a catalog and read it"] = [name, vertical];
  return catalog;
}

async function feeds(catalog) {
  const schedule = { interval: "DAILY", hour: 4, url: given.file_url };
  const { id } = await catalog.createProductFeed([], { name: "All books", schedule, default_currency: "EUR" });
  const feed = nodeOf(ProductFeed, id, userApi);
  await feed.update([], { name: "Every book" });
  const read = (await nodeOf(ProductFeed, id, userApi).read(["name", "schedule", "update_schedule", "country"])).exportAllData();
  uses["create a feed with a schedule, rename it and read it"] = [read.name, read.schedule.interval, read.schedule.hour];
  const other = await catalog.createProductFeed([], { name: "Other books" });
  await nodeOf(ProductFeed, other.id, userApi).delete([]);
  uses["list the feeds of a catalog, one of which was deleted"] = (await catalog.getProductFeeds(["name"])).map(({ name }) => name);
  return nodeOf(ProductFeed, id, userApi);
}

/** Waits for the end of an upload as a program does, by requesting the upload repeatedly. */
async function endOf({ id }) {
  for (let tries = 0; tries < 300; tries++) {
    const fields = ["start_time", "end_time", "num_detected_items", "num_persisted_items", "error_count"];
    const read = (await nodeOf(ProductFeedUpload, id, userApi).read(fields)).exportAllData();
    if (read.end_time !== undefined) return [read.num_detected_items, read.num_persisted_items, read.error_count];
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the upload does not end");
}

async function uploads(feed) {
  const upload = await feed.createUpload([], { url: given.bad_file_url });
  uses["upload a file by its address and wait for its end"] = await endOf(upload);
  const errors = await nodeOf(ProductFeedUpload, upload.id, userApi).getErrors([]);
  uses["read the errors of an upload"] = errors.map((error) => [error.severity, error.summary]);
  uses["upload a file by its address that adds items to the feed"] = await endOf(
    await feed.createUpload([], { url: given.file_url, update_only: true }),
  );
  uses["list the uploads of a feed"] = (await feed.getUploads(["input_method"])).map(({ input_method }) => input_method);
  const items = await userApi.call("GET", [feed.id, "articles_and_publications"], { summary: true, fields: "retailer_id" });
  uses["list the items of a feed"] = [items.summary.total_count, items.data.map(({ retailer_id }) => retailer_id)];
}

async function subscriptions() {
  const app = nodeOf(Application, "1001", appApi);
  await app.createSubscription([], { object: "page", callback_url: given.callback_url, verify_token: "v", fields: ["custom_labels", "feed"] });
  const { data } = await appApi.call("GET", ["1001", "subscriptions"]);
  uses["subscribe an app"] = data.map(({ fields }) => [...fields].sort());
  const page = nodeOf(Page, "2001", pageApi);
  await page.createSubscribedApp([], { subscribed_fields: ["custom_labels", "feed"] });
  uses["subscribe the app to a page"] = (await page.getSubscribedApps([])).map((one) => [...one.exportAllData().subscribed_fields].sort());
  await page.deleteSubscribedApps();
  await app.deleteSubscriptions({ object: "page" });
  uses["unsubscribe from both"] = [(await page.getSubscribedApps([])).length, (await appApi.call("GET", ["1001", "subscriptions"])).data.length];
}

async function batches(feed) {
  const results = [];
  const batch = new Batch(userApi);
  const ok = (response) => results.push(response.body.name ?? response.body.success);
  const failed = (response) => results.push(response.error.status);
  batch.add("GET", [feed.id], { fields: "name" }, undefined, ok, failed);
  batch.add("GET", ["4999"], { fields: "name" }, undefined, ok, failed);
  batch.add("POST", [feed.id], { name: "Batch" }, undefined, ok, failed);
  await batch.execute();
  uses["send a batch of which one request fails"] = results;
}

async function references() {
  const batch = new Batch(pageApi);
  batch.add("POST", ["2001", "personas"], { name: "first", profile_picture_url: "https://example.com/bo.png" });
  batch.add("POST", ["2001", "custom_labels"], { page_label_name: "{result=first:$.id}" });
  await batch.execute();
  const page = nodeOf(Page, "2001", pageApi);
  const named = (await page.getPersonas(["name"])).find(({ name }) => name === "first").id;
  uses["send a batch of which one request refers to another"] = (await page.getCustomLabels(["name"])).some(({ name }) => name === named);
}

/** Responds to the verification of a callback; `received` resolves with whether the library of the receiver accepts the first webhook. */
async function receiver() {
  let resolve;
  const received = new Promise((given) => {
    resolve = given;
  });
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    response.end(new URL(request.url, "http://a").searchParams.get("hub.challenge"));
    if (request.method === "POST") resolve(new XHubSignature("sha1", "shop-secret").verify(request.headers["x-hub-signature"], Buffer.concat(parts)));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}/hook`, received, close: () => server.close() };
}

async function signatures() {
  const { url, received, close } = await receiver();
  const app = nodeOf(Application, "1001", appApi);
  const page = nodeOf(Page, "2001", pageApi);
  await app.createSubscription([], { object: "page", callback_url: url, verify_token: "v", fields: ["custom_labels"] });
  await page.createSubscribedApp([], { subscribed_fields: ["custom_labels"] });
  await page.createCustomLabel([], { page_label_name: "signed" });
  uses["check the older signature of a webhook"] = await received;
  await page.deleteSubscribedApps();
  await app.deleteSubscriptions({ object: "page" });
  close();
}

async function errors() {
  try {
    await nodeOf(Page, "4999", pageApi).read(["name"]);
  } catch ({ status, response }) {
    uses["read an error"] = [status, response.code, response.error_subcode, response.type];
  }
}

async function main() {
  await readNodes();
  await labelPeople();
  await personas();
  await errors();
  await subscriptions();
  await signatures();
  await references();
  version = "v25.0";
  const catalog = await catalogs();
  const feed = await feeds(catalog);
  await uploads(feed);
  await batches(feed);
  const gone = nodeOf(ProductCatalog, catalog.id, userApi);
  await gone.delete([]);
  uses["delete a catalog"] = await gone.read(["name"]).catch(({ response }) => response.error_subcode);
  console.log(JSON.stringify(uses));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
