/**
 * The parts of the server and their allowed imports. The server in one line (ARCHITECTURE.md):
 *
 *   kernel ◀ storage, recordings ◀ auth, jobs, outbound ◀ webhooks ◀ graph ◀ control-contract ◀ features/* ◀ surfaces ◀ http, ingest ◀ control ◀ main ◀ cli
 *
 * Run by `npm run check -- dependencies`, which also makes sure that the modules were really seen. tools/tidy checks
 * things that are not imports (globals such as `Bun` and `fetch`, the environment, time, SQL).
 */

/** Parts that take requests or streams from outside. */
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

/** The floors below each floor, nearest first. A floor may import all of them, and itself. */
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
  // At the side: they look at the server and carry nothing of it.
  telemetry: ["graph", "webhooks", "auth", "storage", "kernel"],
  config: ["surfaces", "graph", "auth", "storage", "kernel"],
  http: listener,
  ingest: listener,
  // It is served by the listener of http. A feature's routes come to it by the registry.
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

/** One rule for each floor: it imports nothing of src but the floors below. Tests of a floor are free. */
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
    comment: "kernel has no I/O and no npm package: plain values and functions that everything else can rely on",
    from: { path: "^src/kernel/", pathNot: TEST },
    to: { pathNot: "^src/kernel/" },
  },
  {
    name: "http1-knows-the-protocol-alone",
    comment: "bytes in; heads, bodies and protocol problems out. src/http, above it, knows the interface",
    from: { path: "^src/http/http1/", pathNot: TEST },
    to: { pathNot: "^src/http/http1/|^src/kernel/" },
  },
  {
    name: "system-is-given",
    comment:
      "time, ids and randomness are given by main; what imports system.ts cannot be controlled by a test. Listeners may: how long a request took is the machine's business, not the world's",
    from: { path: "^src/", pathNot: `^src/(main|seed-world)\\.ts$|^src/(cli|http|control|ingest)/|${TEST}` },
    to: { path: "^src/system\\.ts$" },
  },
  {
    name: "system-knows-kernel",
    comment: "system.ts gives what kernel asks for and knows nothing else of the server",
    from: { path: "^src/system\\.ts$" },
    to: { path: "^src/", pathNot: "^src/kernel/" },
  },
  {
    name: "main-composes",
    comment: "only the command line starts main; any other import of it turns the server upside down",
    from: { path: "^src/", pathNot: `^src/cli/|${TEST}` },
    to: { path: "^src/main\\.ts$" },
  },
  {
    name: "cli-is-on-top",
    comment: "nothing imports the command line",
    from: { path: "^src/", pathNot: `^src/cli/|${TEST}` },
    to: { path: "^src/cli/" },
  },
  {
    name: "features-do-not-meet",
    comment:
      "a feature imports of another one its x.api.ts alone; what it must know of the other's data it asks by the name of a port (kernel/ports.ts)",
    from: { path: "^src/features/([^/]+)/", pathNot: TEST },
    to: { path: "^src/features/", pathNot: "^src/features/($1/|[^/]+/[^/]+\\.api\\.ts$)" },
  },
  {
    name: "by-the-public-api",
    comment:
      "from outside, a feature is its index.ts; the process that reads feed files is a program of its own; tests and benches may fill its store and read its normal forms of user data",
    from: { path: "^(src|test|tools|bench)/", pathNot: "^src/features/|^tools/feature-template/" },
    to: {
      path: "^src/features/[^/]+/",
      pathNot: "^src/features/[^/]+/index\\.ts$|\\.store\\.ts$|/app-events/intake/parse-user-data\\.ts$|/product-feeds/product-feeds\\.api\\.ts$",
    },
  },
  {
    name: "stores-for-tests",
    comment: "a feature's store is its own; tests and benches may use it to fill many rows at once",
    from: { path: "^(src|tools)/", pathNot: "^src/features/" },
    to: { path: "^src/features/[^/]+/.+\\.store\\.ts$" },
  },
  {
    name: "contracts-are-data",
    comment: "a contract imports kernel, graph/contract, words of schemas, schemes, policies, typebox and its own feature's data, nothing that acts",
    from: { path: "\\.contract\\.ts$" },
    to: {
      pathNot: [
        "^src/kernel/",
        "^src/graph/(contract/operation|pipeline/request)\\.ts$",
        // The documentation of a schema, and the fields of subscriptions.
        "^src/(graph/schema/schema-node|graph/worlds/file/schema-words|webhooks/catalogue/field)\\.ts$",
        "^src/auth/(policy|page-policies|schemes)\\.ts$",
        "^node_modules/typebox/",
        // Its own feature's data: policies, limits, states, metrics. The next two rules name the files that are not data.
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
    comment: "of a store, a contract may know the shape of a row and nothing else",
    from: { path: "\\.contract\\.ts$" },
    to: { path: "\\.store\\.ts$", dependencyTypesNot: ["type-only"] },
  },
  {
    name: "sqlite-driver",
    comment: "only storage/sqlite knows that SQLite exists",
    from: { path: "^src/", pathNot: `^src/storage/sqlite/|${TEST}` },
    to: { path: "^bun:sqlite$" },
  },
  {
    name: "postgres-driver",
    comment: "only storage/postgres knows that PostgreSQL exists",
    from: { path: "^src/", pathNot: `^src/storage/postgres/|${TEST}` },
    to: { path: "^node_modules/(pg|@types/pg)/" },
  },
  {
    name: "drivers-behind-storage",
    comment: "only storage itself opens a driver; everybody else sees storage/database.ts",
    from: { path: "^src/", pathNot: `^src/storage/|${TEST}` },
    to: { path: "^src/storage/(sqlite|postgres)/" },
  },
  {
    name: "sockets",
    comment: "inbound sockets stand in http, control and ingest; outbound ones in outbound. config asks node:net what an IP address is",
    from: { path: "^src/", pathNot: `^src/(http|control|ingest|config)/|^src/outbound/|^src/storage/postgres/|${TEST}` },
    to: { path: "^(node:)?(http|https|http2|net|tls|dgram)$|^node_modules/hono/" },
  },
  {
    name: "bun-in-few-places",
    comment: "Bun's own modules are named where the runtime matters, so that the rest could run elsewhere",
    from: {
      path: "^src/",
      pathNot: `^src/(http|storage|control|ingest)/|^src/(main|system)\\.ts$|^src/outbound/|${TEST}`,
    },
    to: { path: "^bun(:|$)" },
  },
  {
    name: "no-development-packages",
    comment: "what runs may not need a development dependency: `npm start` installs none",
    from: { path: "^src/", pathNot: TEST },
    to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
  },
  {
    name: "declared-packages",
    comment: "a package that is imported stands in package.json",
    from: { path: "^(src|test|tools|conformance|bench|clients|workbench)/" },
    to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
  },
  {
    name: "resolvable",
    comment: "an import that leads nowhere hides what stands behind it from all the other rules",
    from: { path: "^(src|test|tools|conformance|bench|clients|workbench)/" },
    to: { couldNotResolve: true, pathNot: "^bun:" },
  },
  {
    name: "program-without-its-tests",
    comment: "the program imports nothing from tests, tools and benches, and the conformance suite only for the commands that run it",
    from: { path: "^src/", pathNot: TEST },
    to: { path: `^(test|tools|bench)/|${TEST}` },
  },
  {
    name: "workbench-for-its-commands",
    comment: "the workbench and the test kit know a server from outside; only their commands load them",
    from: { path: "^src/", pathNot: `^src/cli/workbench/|${TEST}` },
    to: { path: "^(workbench|clients)/" },
  },
  {
    name: "workbench-from-outside",
    comment: "the workbench stands on the control API and the test kit: it imports nothing of the server",
    from: { path: "^workbench/", pathNot: TEST },
    to: { path: "^(src|test|tools|bench)/|^node_modules/" },
  },
  {
    name: "conformance-for-its-commands",
    comment: "the suite looks at a server from outside; only `plaza conform` and `plaza compare` run it",
    from: { path: "^src/", pathNot: `^src/cli/compare/|${TEST}` },
    to: { path: "^conformance/" },
  },
  {
    name: "conformance-from-outside",
    comment: "the conformance suite is a black box: by no way does it know anything of src",
    from: { path: "^conformance/", pathNot: TEST },
    to: { path: "^(src|test|tools)/", reachable: true },
  },
  {
    name: "model-from-the-interface",
    comment: "the model is written from the interface and its decisions: it knows nothing of the program",
    from: { path: "^test/model/" },
    to: { path: "^(src|tools|conformance)/" },
  },
  {
    name: "reference-stands-alone",
    comment: "the reference of the model is plain maps and lists: it imports nothing but itself, and the HMAC of the proof",
    from: { path: "^test/model/(reference|rules)/" },
    to: { pathNot: "^(test/model/(reference|rules)/|(node:)?crypto$)" },
  },
  {
    name: "client-stands-alone",
    comment: "the client is a package of its own: it imports nothing but itself, no package and no runtime's modules",
    from: { path: "^clients/typescript/src/" },
    to: { pathNot: "^clients/typescript/" },
  },
  {
    name: "conformance-imports",
    comment: "its test may start a PostgreSQL by the harness; nothing of src may be imported",
    from: { path: "^conformance/" },
    to: { path: "^(src|tools)/" },
  },
  {
    name: "kit-from-outside",
    comment: "the test kit runs on Node as well, in programs of others: it starts the server and talks to it, and imports nothing of it",
    from: { path: "^clients/", pathNot: TEST },
    to: { path: "^(src|test|tools|bench|conformance)/|^node_modules/" },
  },
  {
    name: "nothing-unreachable",
    comment: "what the program's two entries do not reach is dead: use it or delete it",
    from: { path: "^src/(main|cli/plaza)\\.ts$" },
    // response-schemas is what contracts say to the documents and to the tests' check of every response.
    to: {
      path: "^src/",
      pathNot: `^src/(main|cli/plaza)\\.ts$|^src/graph/contract/response-schemas\\.ts$|\\.d\\.ts$|${TEST}`,
      reachable: false,
    },
  },
  {
    name: "nothing-circular",
    comment: "two modules that need each other, be it for a type, are one module that is read twice: put what both need below them",
    from: { path: "^(src|test|tools|conformance|bench|clients|workbench)/" },
    to: { circular: true },
  },
].map((rule) => ({ severity: "error", ...rule }));

module.exports = {
  forbidden: [...floors, ...rules],
  options: {
    // Of these the sources are in the same folders.
    exclude: { path: "^clients/[^/]+/dist/" },
    doNotFollow: { path: npm, dependencyTypes: PACKAGES },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "default", "types", "node"] },
  },
};
