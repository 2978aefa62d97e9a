/**
 * Sends each write of the interface as people and apps that should not succeed: people without a role, administrators of another app, people of another
 * business, and other pages and accounts. The table `who-may-write.md` has a line for each write: the rule of its policy, and the callers who succeeded.
 * The rights do not depend on the database, so the test uses SQLite.
 */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TokenKind } from "#auth/token";
import type { Endpoint } from "#graph/contract/registry";
import type { SurfaceName } from "#graph/pipeline/request";
import { nodeOfType, openFullPlaza } from "#harness/full-world";
import type { TestPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { READ_SCOPES as scopes } from "#harness/scopes";
import { taken, world } from "#openapi/samples";

const TABLE = join(import.meta.dir, "who-may-write.md");
const ARTEFACTS = join(import.meta.dir, "../../test-artefacts");

/** A caller, identified by the type of token with which the caller sends requests. */
interface Caller {
  /** The caller is a person who uses the first app. An app token belongs to no person. */
  readonly isPerson?: true;
  readonly app: string;
  readonly user?: string;
  readonly page?: string;
  readonly social_account?: string;
  readonly microblog_user?: string;
}

const others = { page: "2002", social_account: "6002", microblog_user: "7002" };
const callers: Readonly<Record<string, Caller>> = {
  owner: { app: "1001", user: "3001", page: "2001", social_account: "6001", microblog_user: "7001" },
  "no role": { app: "1001", user: "3002", ...others, isPerson: true },
  "admin of the app only": { app: "1001", user: "3005", isPerson: true },
  "admin of another app": { app: "1002", user: "3003", ...others },
  "other business": { app: "1001", user: "3004", isPerson: true },
};

const fieldOf: Readonly<Record<TokenKind, Exclude<keyof Caller, "isPerson">>> = {
  ...{ app: "app", user: "user", system_user: "user", page: "page", social_user: "social_account", microblog_user: "microblog_user" },
};

/** The second page, account and business have everything that the first ones have. */
const wholeWorld = {
  ...world,
  users: [...world.users, { id: "3003", name: "Foreign" }, { id: "3004", name: "Competitor" }, { id: "3005", name: "Developer" }],
  apps: world.apps.map((app) =>
    app.id === "1002"
      ? { ...app, roles: [{ user: "3003", role: "administrator" }] }
      : { ...app, roles: [...(app.roles ?? []), { user: "3005", role: "administrator" }] },
  ),
  businesses: [...world.businesses, { id: "3502", name: "Rival", people: [{ user: "3004" }] }],
  pages: world.pages.map((page) =>
    page.id === "2002" ? { ...page, roles: [...page.roles, { user: "3002", tasks: ["MESSAGING", "MANAGE"] }] } : page,
  ),
  live_videos: world.live_videos.map((video) => ({ ...video, status: "LIVE" })),
  tokens: [
    ...world.tokens,
    ...Object.values(callers).flatMap((caller) =>
      (Object.keys(fieldOf) as TokenKind[]).flatMap((type) => {
        const field = fieldOf[type];
        const { app, user } = caller;
        if (caller[field] === undefined) return [];
        const person = type === "page" && user !== undefined ? { user } : {};
        return [{ token: tokenOf(caller, type), type, app, scopes, ...person, ...(type === "app" ? {} : { [field]: caller[field] }) }];
      }),
    ),
  ],
};

function tokenOf(caller: Caller, type: TokenKind): string {
  return `${type}-${caller.app}-${caller[fieldOf[type]]}-${caller.user}`;
}

async function hasSucceeded(plaza: TestPlaza, { access, served, nodeType }: Endpoint, params: object, token: string): Promise<boolean> {
  const contract = served?.contract;
  const surface = (access.surfaces[0] ?? access.clientsSurfaces?.[0]) as SurfaceName;
  const isVersioned = access.versions !== "unversioned" && surface !== "microblog" && surface !== "app";
  const path = `${nodeType === undefined ? "" : `/${nodeOfType[nodeType]}`}${contract?.edge === null ? "" : `/${contract?.edge}`}`;
  const isBody = contract?.method === "POST";
  const query = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : value]));
  const { status } = await plaza.request(contract?.method ?? "GET", `${isVersioned ? "/v25.0" : ""}${path}`, {
    surface,
    headers: { "x-forwarded-for": "203.0.113.9", authorization: `Bearer ${token}` },
    query: {
      ...(access.scheme === "pageMessaging" ? { access_token: token, oauth_token: token } : access.scheme === "query" ? { access_token: token } : {}),
      ...(isBody ? {} : query),
    },
    ...(isBody ? { body: params as Record<string, unknown> } : {}),
  });
  return status < 300;
}

test("only those write whose right it is", async () => {
  const callback = startReceiver().url;
  const samples = { ...taken(callback), updateLiveVideo: [{ title: "Opening" }] };
  const names = Object.keys(callers);
  const tables: string[] = [];
  for (const profile of ["strict", "clients"] as const) {
    const open = () => openFullPlaza({ profile, world: wholeWorld });
    let plaza = await open();
    const lines: string[] = [];
    for (const endpoint of plaza.registry.endpoints) {
      const { access, served } = endpoint;
      if (served === undefined || served.contract.method === "GET") continue;
      const cells: string[] = [];
      for (const caller of Object.values(callers)) {
        const succeeded: string[] = [];
        for (const kind of access.policy.kinds.filter((one) => caller[fieldOf[one]] !== undefined && !(one === "app" && caller.isPerson))) {
          for (const sample of (samples as ReturnType<typeof taken>)[access.operation] ?? [{}]) {
            if (!(await hasSucceeded(plaza, endpoint, sample, tokenOf(caller, kind)))) continue;
            if (!succeeded.includes(kind)) succeeded.push(kind);
            plaza = await open();
          }
        }
        cells.push(succeeded.join(", ") || "–");
      }
      lines.push(`| ${[access.operation, access.policy.summary, ...cells].join(" | ")} |`);
    }
    const head = ["operation", "whose right it is", ...names];
    tables.push([`## ${profile}`, "", `| ${head.join(" | ")} |`, `|${head.map(() => "---|").join("")}`, ...lines].join("\n"));
  }
  const table = `# Who may write\n\n${tables.join("\n\n")}\n`;
  mkdirSync(ARTEFACTS, { recursive: true });
  writeFileSync(join(ARTEFACTS, "who-may-write.md"), table);
  // If this check fails, read each changed line of test-artefacts/who-may-write.md. If the changed line is right, copy the file to
  // `who-may-write.md`.
  expect(table).toBe(readFileSync(TABLE, "utf8"));
}, 600_000);
