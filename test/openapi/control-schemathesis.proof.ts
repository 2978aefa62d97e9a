/** Runs Schemathesis on the control API's own document, with a sandbox that has the demo world. */
import { expect, test } from "bun:test";
import { type Server, startServer } from "#harness/server";
import { expectNoFault, type Known } from "./schemathesis.ts";

const TIMEOUT_MS = 3_000_000;

/**
 * Operations that a fuzzer cannot test, e.g. because the operation stops the server or its response does not end. The operations in this list have
 * tests of their own.
 */
const leftOut = [
  { operation: "stopServer", because: "the operation stops the server that is tested" },
  { operation: "streamRequests", because: "the response is a stream that ends only when the client closes it" },
  { operation: "streamDeliveries", because: "the response is a stream that ends only when the client closes it" },
];

/**
 * Status 422 means that a request is well formed but names something that does not exist. No text has U+0000, because databases do not store this
 * character.
 */
const CHECKS = '[generation]\nallow-x00 = false\n[checks.positive_data_acceptance]\nexpected-statuses = ["2xx", 401, 403, 404, 409, 422]\n';

/** Operations that refuse some requests with status 400 although they fit the schema, because of a rule that only the description has. */
const notAlwaysAccepted = [
  {
    because: "D-278: only the descriptions say which keys of a body are allowed together",
    operations: "^(createFault|mintToken|recordClick|recordImpression|readDevice|commentLiveInApp|createNode_(activity|live_videos|apps))$",
  },
  {
    because: "D-278: a comment or reaction is refused if its live video or its author does not exist",
    operations: "^createNode_live_(comments|reactions)$",
  },
  {
    because: "D-278: a text that must be a web address has only the type string in the schema",
    operations: "^createNode_(personas|product_feeds|chatapp_accounts|phone_numbers)$",
  },
  {
    because: "D-278: the schema does not limit lists of states with commas, codes of countries, the length of a person's id, and spans of time",
    operations: "^(listDeliveries|checkViewer|erasePerson|listEventSums|readAttributionReport)$",
  },
  { because: "D-278: an empty feed file is refused although the schema allows it", operations: "^uploadFeed$" },
  { because: "D-278: ids must be below 2^53, which the schema does not say", operations: "^createNode_(pages|required_actions)$" },
  { because: "D-278: a change of a node is checked together with the stored node, and a node's id cannot change", operations: "^updateNode_" },
];

const notPositive = notAlwaysAccepted
  .map(
    ({ because, operations }) => `# ${because}
[[operations]]
include-operation-id-regex = ${JSON.stringify(operations)}
[operations.checks.positive_data_acceptance]
enabled = false
`,
  )
  .join("");

/** For each key that refers to a node, the id of an existing node. */
const referred = {
  account: "4001",
  app: "1001",
  business: "3501",
  catalog: "8001",
  owner_app: "1001",
  page: "2001",
  social_account: "6001",
  user: "3001",
  waba: "4001",
};
const owners = { media: "6001", microblog_media: "7001" };
const references: readonly Known[] = [
  ...Object.entries(referred).map(([key, value]) => ({ parameter: `body.${key}`, value })),
  ...Object.entries(owners).map(([key, value]) => ({ addresses: `/nodes/${key}$`, parameter: "body.owner", value })),
];

/** An existing node of each type, for the ids in requests. */
async function named({ control_url, control_key }: Server): Promise<Known[]> {
  const headers = { authorization: `Bearer ${control_key}` };
  const read = async (path: string) => (await (await fetch(`${control_url}${path}`, { headers })).json()) as Record<string, unknown>;
  const { paths } = await read("/v1/openapi.json");
  const addresses = Object.keys(paths as object).filter((path) => path.includes("/nodes/") && path.endsWith("/{id}"));
  const nodes = await Promise.all(
    addresses.map(async (address) => {
      const { data } = (await read(address.replace("{w}", "default").replace("/{id}", "?limit=1"))) as { data: { id: string }[] };
      return [address, "id", data[0]?.id] as const;
    }),
  );
  const others = [
    ["/v1/worlds/{w}/feeds/", "id", "8101"],
    ["/v1/worlds/{w}/live-videos/", "id", "5301"],
    ["/v1/worlds/{w}/app-events/", "app", "1001"],
  ] as const;
  const places = [...nodes, ...others].flatMap(([address, name, value]) =>
    value === undefined ? [] : [{ addresses: `^${address.replaceAll(/[{}]/g, "\\$&")}`, parameter: `path.${name}`, value }],
  );
  return [{ parameter: "path.w", value: "default" }, ...places, ...references];
}

test(
  "Schemathesis finds no fault with the control API",
  async () => {
    const server = await startServer(["--data", ":memory:"]);
    const auth = `[auth.openapi.controlKey]\nbearer = ${JSON.stringify(server.control_key)}\n`;
    const linksFollowed = await expectNoFault({
      server,
      address: `${server.control_url}/v1/openapi.json`,
      configuration: `${auth}${CHECKS}${notPositive}`,
      leftOut: [],
      known: await named(server),
      options: leftOut.flatMap(({ operation }) => ["--exclude-operation-id", operation]),
      hooks: "control_hooks.py",
    });
    // In a measured run, Schemathesis followed 32 of 150 links. A much smaller number of followed links means that the chains of requests ended
    // early.
    expect(linksFollowed).toBeGreaterThan(10);
  },
  TIMEOUT_MS,
);
