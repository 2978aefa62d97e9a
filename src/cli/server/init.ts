/** `plaza init`: writes the first files of a project that uses Plaza. Files that exist already stay unchanged. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { configFileSchema } from "#config/config-file";
import { settings } from "#features";
import { worldFileSchema } from "#graph/worlds/file/file-schema";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { isExecutable } from "#jobs/child-process";
import { buildRegistry } from "#main";
import { fail, note, say, WRONG_USE } from "../terminal/output.ts";
import { printedJson } from "../terminal/printed-json.ts";

/** The folder of this package inside a project that has installed the package. */
const PACKAGE = "node_modules/plaza-graph";

const CONFIG = `# Options of \`plaza start\`; each is also a flag and a variable (docs/reference/configuration.md).
# With import, each start loads the world file: its values replace stored values, and everything else stays.
world: world.yaml
import: true
# \`clients\` accepts the requests of client libraries, with one token anywhere in the request. \`strict\` follows the interface to the letter.
profile: clients
`;

const WORLD = `# The content of your sandbox (docs/reference/world-files.md). The values are public and protect nothing.
apps:
- {id: "1001", name: My app, secret: my-app-secret, roles: [{user: "3001", role: administrator}]}
users:
- {id: "3001", name: Ada}
pages:
- {id: "2001", name: My page, people: [{psid: "9001", name: Guest}], roles: [{user: "3001", tasks: [MANAGE, MODERATE, MESSAGING]}],
   subscribed_apps: [{app: "1001", subscribed_fields: [custom_labels, live_videos]}]}
chatapp_accounts:
- {id: "4001", name: My business chat, subscribed_apps: [{app: "1001"}]}
phone_numbers:
- {id: "4101", account: "4001", display_phone_number: "+1 555 0100", verified_name: My page}
tokens:
- {token: my-app-token, type: app, app: "1001"}
- {token: my-page-token, type: page, app: "1001", page: "2001", user: "3001", scopes: [pages_messaging, pages_manage_metadata]}
`;

const DATA = ".plaza";

/** The folder for the skill file. Coding agents read skills from folders, with one folder for each skill. */
const SKILL_FOLDER = ".agents/skills/plaza";

const skillText = (plaza: string): string => `---
name: plaza
description: Develop and test an integration with the graph platform against Plaza, a local server with the same HTTP interface.
---

# Plaza

- Start a server in the background with \`${plaza} start\`, or for one command only: \`${plaza} exec -- npm test\`.
- The app finds the server's address in PLAZA_BASE_URL; tests also need PLAZA_CONTROL_URL and PLAZA_CONTROL_KEY. Identities and tokens are in world.yaml.
- As tools: \`${plaza} mcp\` is an MCP server on standard input and output; add it to your client if its tools (status, find_operation, send_request) are missing.
- Read the interface: llms.txt at the control port, then the page of the area that you need. Each page has operations, parameters, errors and examples.
- Try a request: \`${plaza} call POST 2001/custom_labels --as 2001 --field page_label_name=vip\`. A refusal names its reason.
- See what the app sent: \`${plaza} logs\`; why a request failed: \`${plaza} explain TRACE\` (the \`pftrace_id\` of the error).
- Webhooks: \`${plaza} listen --forward-to localhost:3000/webhook\`, \`${plaza} trigger messages\`, \`${plaza} deliveries list\`.
- Time, faults: \`${plaza} clock advance 3600\`, \`${plaza} fault add --operation createLabel --status 503 --times 1\`.
- In tests, wait with \`${plaza} expect requests\`, \`expect webhooks\` or \`expect app-events\`, not with a pause.
- Do not write to the data folder .plaza, do not put its keys into files, and do not send requests to the platform itself from tests.
`;

/** Writes the files of a project, and with `isForAgents` the skill file for coding agents. */
export function init(folder: string, isForAgents = false): number {
  try {
    return createAll(folder, isForAgents);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    return fail(`the folder ${folder} cannot be written (${error.code}): run plaza init in a folder in which you may write`, WRONG_USE);
  }
}

function createAll(folder: string, isForAgents: boolean): number {
  create(folder, "plaza.config.yaml", schemaLine(folder, "config") + CONFIG);
  create(folder, "world.yaml", schemaLine(folder, "world") + WORLD);
  ignoreData(folder);
  const plaza = commandIn(folder);
  if (isForAgents) {
    mkdirSync(join(folder, SKILL_FOLDER), { recursive: true });
    create(folder, `${SKILL_FOLDER}/SKILL.md`, skillText(plaza));
  }
  say(`
Start the sandbox, and send its webhooks to your receiver:

  ${plaza} start
  ${plaza} listen --forward-to localhost:3000/webhook
  ${plaza} trigger messages`);
  return 0;
}

/**
 * Returns the command by which a user runs Plaza in the project's folder. Without `--no-install`, npx would fetch a foreign package with the
 * name of the command if Plaza is not installed.
 */
function commandIn(folder: string): string {
  if (existsSync(join(folder, PACKAGE))) return "npx --no-install plaza";
  const program = isExecutable ? process.execPath : (process.argv[1] ?? "");
  // A program that is installed for the whole machine is found by its name.
  if (program.includes("node_modules")) return "plaza";
  const launchers = ["../../bin/plaza", "../../../bin/plaza"].map((path) => join(program, path));
  const own = launchers.find((path) => existsSync(path)) ?? (isExecutable ? program : undefined);
  if (own === undefined) return "plaza";
  const path = relative(folder, own);
  return path.includes("/") ? path : `./${path}`;
}

/**
 * Returns a comment that tells an editor where the schema of the file is: in the package, or beside the file if the
 * project does not have the package.
 */
function schemaLine(folder: string, name: "world" | "config"): string {
  const file = `${name}.schema.json`;
  const packaged = `${PACKAGE}/docs/reference/${file}`;
  const hasPackage = existsSync(join(folder, packaged));
  if (!hasPackage) create(folder, file, schemaText(name));
  return `# yaml-language-server: $schema=${hasPackage ? packaged : file}\n`;
}

function create(folder: string, name: string, text: string): void {
  try {
    writeFileSync(join(folder, name), text, { flag: "wx" });
    say(`created ${name}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    note(`${name} exists already and is not changed`);
  }
}

/** Creates the data folder with a file that makes git ignore the folder, because the server stores keys there that do not belong in a repository. */
function ignoreData(folder: string): void {
  mkdirSync(join(folder, DATA), { recursive: true, mode: 0o700 });
  create(folder, `${DATA}/.gitignore`, "*\n");
}

/** The schemas of files, for an editor in a project without the package. `plaza schema` also prints the schemas of JSON output. */
const schemas = {
  world: () => worldFileSchema(sectionsOf(buildRegistry())),
  config: () => configFileSchema(settings),
};

export type SchemaName = keyof typeof schemas | keyof typeof printedJson;

export const schemaText = (name: SchemaName): string =>
  `${JSON.stringify(name === "world" || name === "config" ? schemas[name]() : printedJson[name], undefined, 1)}\n`;
