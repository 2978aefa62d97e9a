/**
 * The folders of the server and their allowed imports. A folder may import only the folders left of it in this line (ARCHITECTURE.md):
 *
 *   kernel ◀ storage, recordings ◀ auth, jobs, outbound ◀ webhooks ◀ graph ◀ control-contract ◀ features/* ◀ surfaces ◀ http, ingest ◀ control ◀ main ◀ cli
 *
 * `npm run check -- dependencies` enforces this file, and also makes sure that dependency-cruiser really read the modules. tools/tidy checks what is
 * not an import (globals such as `Bun` and `fetch`, the environment, time, SQL).
 */

/** The folders that the servers for requests (http) and streams (ingest) may import. */
const listener = [
  "surfaces",
  "features",
  "control-contract",
  "graph",
  "webhooks",
  "outbound",
  "jobs",
  "auth",
  "storage",
  "recordings",
  "kernel",
  "telemetry",
  "config",
];

/** For each folder of src, the folders that its files may import, nearest first. Files may always import their own folder. */
const below = {
  kernel: [],
  storage: ["kernel"],
  recordings: ["kernel"],
  auth: ["storage", "kernel"],
  jobs: ["storage", "kernel"],
  outbound: ["storage", "kernel"],
  webhooks: ["outbound", "jobs", "auth", "storage", "kernel"],
  graph: ["webhooks", "outbound", "jobs", "auth", "storage", "kernel"],
  "control-contract": ["graph", "webhooks", "outbound", "jobs", "auth", "storage", "kernel"],
  features: ["control-contract", "graph", "webhooks", "outbound", "jobs", "auth", "storage", "recordings", "kernel"],
  surfaces: ["features", "control-contract", "graph", "webhooks", "outbound", "jobs", "auth", "storage", "recordings", "kernel"],
  // telemetry and config read the server's values, and of the folders in this list only http, ingest and control may import them.
  telemetry: ["graph", "webhooks", "auth", "storage", "kernel"],
  config: ["surfaces", "graph", "auth", "storage", "kernel"],
  http: listener,
  ingest: listener,
  // The control API is served by the listener of http. The code of control gets a feature's control routes from the registry, so it imports no
  // feature.
  control: [
    "http",
    "surfaces",
    "control-contract",
    "graph",
    "webhooks",
    "outbound",
    "jobs",
    "auth",
    "storage",
    "recordings",
    "kernel",
    "telemetry",
    "config",
  ],
};

const TEST = "\\.test\\.ts$";

/** One rule for each folder of src: its files import only the folders of src that `below` lists. Test files may import everything. */
const floors = Object.entries(below).map(([floor, lower]) => ({
  name: `floor-${floor}`,
  comment: `${floor} may import only ${lower.length === 0 ? "itself" : [floor, ...lower].join(", ")}; ask by name, or move what is needed down`,
  severity: "error",
  from: { path: `^src/${floor}/`, pathNot: TEST },
  // system.ts and main.ts have rules of their own.
  to: { path: "^src/", pathNot: `^src/(${[floor, ...lower].join("|")})/|^src/(system|main)\\.ts$` },
}));

const npm = "^node_modules/|^npm:";
const PACKAGES = ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-bundled", "npm-no-pkg", "npm-unknown"];

const rules = [
  {
    name: "kernel-is-pure",
    comment: "the kernel uses no I/O and no npm package, so that every other part can rely on it",
    from: { path: "^src/kernel/", pathNot: TEST },
    to: { pathNot: "^src/kernel/" },
  },
  {
    name: "http1-knows-the-protocol-alone",
    comment: "http/http1 turns bytes into requests, and reports malformed HTTP; src/http, which imports it, knows the interface",
    from: { path: "^src/http/http1/", pathNot: TEST },
    to: { pathNot: "^src/http/http1/|^src/kernel/" },
  },
  {
    name: "system-is-given",
    comment:
      "main passes time, ids and randomness to the code that needs them; a test cannot control code that imports system.ts. Listeners may import it, because they measure the real time of a request, which is not the world's time",
    from: { path: "^src/", pathNot: `^src/(main|seed-world)\\.ts$|^src/(cli|http|control|ingest)/|${TEST}` },
    to: { path: "^src/system\\.ts$" },
  },
  {
    name: "system-knows-kernel",
    comment: "system.ts implements the interfaces of the kernel (clock, ids, randomness), so it imports nothing else of the server",
    from: { path: "^src/system\\.ts$" },
    to: { path: "^src/", pathNot: "^src/kernel/" },
  },
  {
    name: "main-composes",
    comment: "only the command line starts main; any other part that imports main would import the whole server",
    from: { path: "^src/", pathNot: `^src/cli/|${TEST}` },
    to: { path: "^src/main\\.ts$" },
  },
  {
    name: "cli-is-on-top",
    comment: "no other part imports the command line",
    from: { path: "^src/", pathNot: `^src/cli/|${TEST}` },
    to: { path: "^src/cli/" },
  },
  {
    name: "features-do-not-meet",
    comment: "a feature imports only the x.api.ts of another feature; it reads the other feature's data through a port (kernel/ports.ts)",
    from: { path: "^src/features/([^/]+)/", pathNot: TEST },
    to: { path: "^src/features/", pathNot: "^src/features/($1/|[^/]+/[^/]+\\.api\\.ts$)" },
  },
  {
    name: "by-the-public-api",
    comment:
      "code outside of a feature imports only its index.ts; exceptions are the process that reads feed files, and tests and benches that fill the store or normalize user data",
    from: { path: "^(src|test|tools|bench)/", pathNot: "^src/features/|^tools/feature-template/" },
    to: {
      path: "^src/features/[^/]+/",
      pathNot: "^src/features/[^/]+/index\\.ts$|\\.store\\.ts$|/app-events/intake/parse-user-data\\.ts$|/product-feeds/product-feeds\\.api\\.ts$",
    },
  },
  {
    name: "stores-for-tests",
    comment: "only the feature itself uses its store; tests and benches may use it to fill many rows at once",
    from: { path: "^(src|tools)/", pathNot: "^src/features/" },
    to: { path: "^src/features/[^/]+/.+\\.store\\.ts$" },
  },
  {
    name: "contracts-are-data",
    comment:
      "a contract imports kernel, graph/contract, schemas, schemes, policies, typebox and its own feature's data, but no code that reads or writes",
    from: { path: "\\.contract\\.ts$" },
    to: {
      pathNot: [
        "^src/kernel/",
        "^src/graph/(contract/operation|pipeline/request)\\.ts$",
        // A contract may also import the documentation of schemas, and the fields to which an app can subscribe.
        "^src/(graph/schema/schema-node|graph/worlds/file/schema-words|webhooks/catalogue/field)\\.ts$",
        "^src/auth/(policy|page-policies|schemes)\\.ts$",
        "^node_modules/typebox/",
        // A contract may import its own feature's data: policies, limits, states, metrics. The next two rules forbid the feature's files that are not
        // data.
        "^(src/features/[^/]+|tools/feature-template)/.+\\.ts$",
      ],
    },
  },
  {
    name: "contracts-do-not-act",
    comment: "handlers and other code import a contract, never the other way round",
    from: { path: "\\.contract\\.ts$" },
    to: { path: "\\.(handlers|world|migrations|changes)\\.ts$|/index\\.ts$" },
  },
  {
    name: "contracts-take-types-of-a-store",
    comment: "a contract may import from a store only the type of a row",
    from: { path: "\\.contract\\.ts$" },
    to: { path: "\\.store\\.ts$", dependencyTypesNot: ["type-only"] },
  },
  {
    name: "sqlite-driver",
    comment: "only the code of storage/sqlite may use SQLite",
    from: { path: "^src/", pathNot: `^src/storage/sqlite/|${TEST}` },
    to: { path: "^bun:sqlite$" },
  },
  {
    name: "postgres-driver",
    comment: "only the code of storage/postgres may use PostgreSQL",
    from: { path: "^src/", pathNot: `^src/storage/postgres/|${TEST}` },
    to: { path: "^node_modules/(pg|@types/pg)/" },
  },
  {
    name: "drivers-behind-storage",
    comment: "only storage itself opens a driver; all other code uses storage/database.ts",
    from: { path: "^src/", pathNot: `^src/storage/|${TEST}` },
    to: { path: "^src/storage/(sqlite|postgres)/" },
  },
  {
    name: "sockets",
    comment:
      "only http, control and ingest listen on sockets, and only outbound connects to other servers; config may use node:net to recognize IP addresses",
    from: { path: "^src/", pathNot: `^src/(http|control|ingest|config)/|^src/outbound/|^src/storage/postgres/|${TEST}` },
    to: { path: "^(node:)?(http|https|http2|net|tls|dgram)$|^node_modules/hono/" },
  },
  {
    name: "bun-in-few-places",
    comment: "only some files may import Bun's own modules, so that the other files could run on another runtime",
    from: {
      path: "^src/",
      pathNot: `^src/(http|storage|control|ingest)/|^src/(main|system)\\.ts$|^src/outbound/|${TEST}`,
    },
    to: { path: "^bun(:|$)" },
  },
  {
    name: "no-development-packages",
    comment: "a file that runs in production must not import a development dependency, because `npm start` does not install these",
    from: { path: "^src/", pathNot: TEST },
    to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
  },
  {
    name: "declared-packages",
    comment: "package.json must list every package that is imported",
    from: { path: "^(src|test|tools|conformance|bench|clients|workbench)/" },
    to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
  },
  {
    name: "resolvable",
    comment: "the other rules cannot follow an import that does not resolve",
    from: { path: "^(src|test|tools|conformance|bench|clients|workbench)/" },
    to: { couldNotResolve: true, pathNot: "^bun:" },
  },
  {
    name: "program-without-its-tests",
    comment: "the program imports nothing from tests, tools and benches; it imports the conformance suite only in the commands that run the suite",
    from: { path: "^src/", pathNot: TEST },
    to: { path: `^(test|tools|bench)/|${TEST}` },
  },
  {
    name: "workbench-for-its-commands",
    comment: "the workbench and the test kit use a server only through its APIs; the server imports them only in their commands",
    from: { path: "^src/", pathNot: `^src/cli/workbench/|${TEST}` },
    to: { path: "^(workbench|clients)/" },
  },
  {
    name: "workbench-from-outside",
    comment: "the workbench uses the control API and the test kit; it imports nothing of the server",
    from: { path: "^workbench/", pathNot: TEST },
    to: { path: "^(src|test|tools|bench)/|^node_modules/" },
  },
  {
    name: "conformance-for-its-commands",
    comment: "the conformance suite tests a server from outside; the server imports it only for `plaza conform` and `plaza compare`",
    from: { path: "^src/", pathNot: `^src/cli/compare/|${TEST}` },
    to: { path: "^conformance/" },
  },
  {
    name: "conformance-from-outside",
    comment: "the conformance suite is a black box: it imports nothing of src, not even indirectly",
    from: { path: "^conformance/", pathNot: TEST },
    to: { path: "^(src|test|tools)/", reachable: true },
  },
  {
    name: "model-from-the-interface",
    comment: "the model is written from the interface document and the decisions, so it imports nothing of the program",
    from: { path: "^test/model/" },
    to: { path: "^(src|tools|conformance)/" },
  },
  {
    name: "reference-stands-alone",
    comment: "the model's reference uses plain maps and lists; it imports only its own files, and the HMAC for the proof of a token",
    from: { path: "^test/model/(reference|rules)/" },
    to: { pathNot: "^(test/model/(reference|rules)/|(node:)?crypto$)" },
  },
  {
    name: "client-stands-alone",
    comment: "the client is a package of its own: it imports only its own files, no package and no module of a runtime",
    from: { path: "^clients/typescript/src/" },
    to: { pathNot: "^clients/typescript/" },
  },
  {
    name: "conformance-imports",
    comment: "the conformance suite imports nothing of src and tools; its test may start PostgreSQL with the test harness",
    from: { path: "^conformance/" },
    to: { path: "^(src|tools)/" },
  },
  {
    name: "kit-from-outside",
    comment:
      "the test kit also runs on Node in other projects: it starts the server as a process and sends requests, and imports nothing of the server",
    from: { path: "^clients/", pathNot: TEST },
    to: { path: "^(src|test|tools|bench|conformance)/|^node_modules/" },
  },
  {
    name: "nothing-unreachable",
    comment: "no entry of the program reaches this file: use the file or delete it",
    from: { path: "^src/(main|cli/plaza)\\.ts$" },
    // Only the generator of documents and the tests use response-schemas, so the program does not reach this file.
    to: {
      path: "^src/",
      pathNot: `^src/(main|cli/plaza)\\.ts$|^src/graph/contract/response-schemas\\.ts$|\\.d\\.ts$|${TEST}`,
      reachable: false,
    },
  },
  {
    name: "nothing-circular",
    comment: "two modules import each other, even if only for types: move the code that both need into a third module",
    from: { path: "^(src|test|tools|conformance|bench|clients|workbench)/" },
    to: { circular: true },
  },
].map((rule) => ({ severity: "error", ...rule }));

module.exports = {
  forbidden: [...floors, ...rules],
  options: {
    // The files in a client's `dist` are not checked, because they are built from sources in the same folder, which are checked.
    exclude: { path: "^clients/[^/]+/(dist|node_modules)/" },
    doNotFollow: { path: npm, dependencyTypes: PACKAGES },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "default", "types", "node"] },
  },
};
