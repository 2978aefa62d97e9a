import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { WorldSection } from "../../contract/feature.ts";
import { findNode } from "../nodes.store.ts";
import { removeNode } from "../open-world.ts";
import { exportWorld, importWorld, isEmpty, sectionsOf } from "./import-export.ts";
import { WorldFileProblem } from "./text.ts";

const load = ({ world, registry }: TestPlaza, text: string, isMerge = false) => importWorld(world, registry, text, { isMerge });

/** Loads a wrong file, which must leave the world as it was. Returns the problem. */
async function refusal(text: string, before = ""): Promise<WorldFileProblem> {
  const plaza = await openPlaza();
  if (before !== "") await load(plaza, before);
  const state = JSON.stringify(await exportWorld(plaza.world, plaza.registry));
  const problem = await load(plaza, text).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(problem).toBeInstanceOf(WorldFileProblem);
  // The clock of the test world stands still, so the two exports of the test have the same time.
  expect(JSON.stringify(await exportWorld(plaza.world, plaza.registry))).toBe(state);
  return problem as WorldFileProblem;
}

const CAFE = `
users: [{id: "3001", name: Ada}]
apps:
- {id: "1001", name: Shop, secret: s3cret, created_time: 1767225600, roles: [{user: "3001", role: administrator}]}
pages:
- {id: "2001", name: Cafe, people: [{psid: "9001", name: Guest}], roles: [{user: "3001", tasks: [MESSAGING]}]}
labels: [{id: "5001", page: "2001", name: vip, users: ["9001"]}]
tokens:
- {token: page-token, type: page, app: "1001", page: "2001", user: "3001", scopes: [pages_messaging], issued_at: 1767225600}
`;

/** The world file with everything that an export without secrets leaves out. */
const TRUSTED = `${CAFE.replace(
  "secret: s3cret,",
  `secret: s3cret, callback: {url: "https://receiver.example/", verify_token: own-verify-token},
   subscriptions: [{object: page, fields: [live_videos], callback: {url: "https://receiver.example/page", verify_token: page-verify-token}}],`,
)}`;

async function secretOf({ world, registry }: TestPlaza): Promise<string> {
  const { apps } = (await exportWorld(world, registry, { secrets: true })) as unknown as { apps: [{ secret: string }] };
  return apps[0].secret;
}

onEachDatabase("world file", (database) => {
  test("a loaded world works, and is exported in the same form", async () => {
    const plaza = await openPlaza({ database });
    expect(await isEmpty(plaza.world)).toBeTrue();
    await load(plaza, CAFE);
    expect(await isEmpty(plaza.world)).toBeFalse();
    const listed = await plaza.get("/v26.0/2001/custom_labels", { token: "page-token" });
    expect(listed.body.data).toEqual([{ id: "5001", name: "vip" }]);
    const file = await exportWorld(plaza.world, plaza.registry, { secrets: true });
    expect(file).toMatchObject({
      users: [{ id: "3001", name: "Ada" }],
      apps: [{ id: "1001", secret: "s3cret", mode: "live", created_time: 1_767_225_600, roles: [{ user: "3001", role: "administrator" }] }],
      labels: [{ id: "5001", page: "2001", name: "vip", users: ["9001"] }],
      tokens: [{ type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"], issued_at: 1_767_225_600, expires_at: 0 }],
    });
    expect(JSON.stringify(file)).not.toContain("page-token");
  });

  test("an export, loaded elsewhere, is the same world: its tokens work although their values were never written", async () => {
    const first = await openPlaza({ database });
    await load(first, `${CAFE}\nprofile: clients\nclock: {now: 1795000000, frozen: true}\n`);
    const file = await exportWorld(first.world, first.registry, { secrets: true });
    const second = await openPlaza({ database });
    await load(second, JSON.stringify(file));
    expect(await exportWorld(second.world, second.registry, { secrets: true })).toEqual(file);
    expect((await second.get("/v26.0/2001/custom_labels", { token: "page-token" })).status).toBe(200);
  });

  test("D-263: an export without secrets has none; a world made from it has the rest, its tokens work, and its app has a new secret", async () => {
    const first = await openPlaza({ database });
    await load(first, `${TRUSTED}\nclock: {now: 1795000000, frozen: true}\n`);
    const file = await exportWorld(first.world, first.registry);
    for (const secret of ["s3cret", "own-verify-token", "page-verify-token", 'page-token"']) expect(JSON.stringify(file)).not.toContain(secret);
    const second = await openPlaza({ database });
    await load(second, JSON.stringify(file));
    expect(await exportWorld(second.world, second.registry)).toEqual(file);
    expect((await second.get("/v26.0/2001/custom_labels", { token: "page-token" })).status).toBe(200);
    expect(await secretOf(second)).toMatch(/^.{20,}$/);
    const third = await openPlaza({ database });
    await load(third, JSON.stringify(file));
    expect(await secretOf(third)).not.toBe(await secretOf(second));
  });

  test("every entry of a section with a type of nodes is in the directory of nodes with this type, so an export finds it", async () => {
    const plaza = await openPlaza({ database });
    await load(plaza, await Bun.file(join(import.meta.dir, "../../../../worlds/demo.yaml")).text());
    const file = (await exportWorld(plaza.world, plaza.registry)) as Record<string, readonly { readonly id: string }[]>;
    for (const { key, nodeType, list } of sectionsOf(plaza.registry)) {
      const { rows } = await list(plaza.world.database.reader, { limit: 200 }, plaza.world);
      expect(file[key]?.length ?? 0).toBe(rows.length);
      if (nodeType === undefined) continue;
      for (const { id } of rows)
        expect({ key, ...(await findNode(plaza.world.database.reader, nodeId(String(id)))) }).toMatchObject({ key, type: nodeType });
    }
  });

  test("an export has no list without entries", async () => {
    const plaza = await openPlaza({ database });
    await load(plaza, 'users: [{id: "3001"}]');
    expect(Object.keys(await exportWorld(plaza.world, plaza.registry)).toSorted()).toEqual(["clock", "profile", "users"]);
  });

  test("a revoked token is revoked wherever an export is loaded", async () => {
    const first = await openPlaza({ database });
    await load(first, `${CAFE}\nclock: {now: 1795000000, frozen: true}\n`);
    const users = sectionsOf(first.registry).find(({ key }) => key === "users") as WorldSection;
    expect(await first.world.database.write((tx) => removeNode(tx, first.registry, first.world, users, "3001"))).toBeTrue();
    const file = await exportWorld(first.world, first.registry);
    expect(file).toMatchObject({ tokens: [{ page: "2001", revoked_at: 1_795_000_000 }] });
    const second = await openPlaza({ database });
    await load(second, JSON.stringify(file));
    for (const plaza of [first, second])
      expect((await plaza.get("/v26.0/2001/custom_labels", { token: "page-token" })).body).toMatchObject({ code: 190, error_subcode: 466 });
  });

  test("D-263: merging an export without secrets deletes none; a callback with another address has the file's verify token", async () => {
    const plaza = await openPlaza({ database });
    await load(plaza, TRUSTED);
    const whole = await exportWorld(plaza.world, plaza.registry, { secrets: true });
    const file = await exportWorld(plaza.world, plaza.registry);
    await load(plaza, JSON.stringify(file), true);
    expect(await exportWorld(plaza.world, plaza.registry, { secrets: true })).toEqual({ ...whole, clock: expect.anything() });
    await load(plaza, 'apps: [{id: "1001", callback: {url: "https://elsewhere.example/"}}]', true);
    const { apps } = await exportWorld(plaza.world, plaza.registry, { secrets: true });
    expect(apps).toMatchObject([{ secret: "s3cret", callback: { url: "https://elsewhere.example/", verify_token: "" }, subscriptions: [] }]);
  });

  test("merging replaces existing entries, adds the rest, and keeps nodes that the file does not name", async () => {
    const plaza = await openPlaza({ database });
    await load(plaza, CAFE);
    await load(
      plaza,
      `labels: [{id: "5001", page: "2001", name: gold}, {id: "5002", page: "2001", name: new}]\ntokens: [{token: page-token, type: app, app: "1001"}]`,
      true,
    );
    const listed = await plaza.get("/v26.0/2001/custom_labels", { token: "page-token", query: { fields: "name" } });
    expect(listed.body.data.map(({ name }: { name: string }) => name).sort()).toEqual(["gold", "new"]);
    expect((await exportWorld(plaza.world, plaza.registry)).users).toEqual([{ id: "3001", name: "Ada" }]);
  });

  test("a file that fails at its end leaves nothing of its beginning", async () => {
    const plaza = await openPlaza({ database });
    await expect(
      load(plaza, `${CAFE}\npersonas: [{id: "5101", page: "7", name: Bo, profile_picture_url: "https://example.com/bo.png"}]`),
    ).rejects.toThrow("personas[0].page refers to 7, which does not exist");
    expect(await isEmpty(plaza.world)).toBeTrue();
  });
});

describe("world file", () => {
  test("references can name later entries of the file", async () => {
    const plaza = await openPlaza();
    // In this world file the roles of the app name a user that is listed later.
    await load(plaza, `apps: [{id: "1001", roles: [{user: "3001", role: developer}]}]\nusers: [{id: "3001"}]`);
    expect((await exportWorld(plaza.world, plaza.registry)).apps).toMatchObject([{ roles: [{ user: "3001", role: "developer" }] }]);
  });

  test("ids may be integers, times ISO strings", async () => {
    const plaza = await openPlaza();
    await load(plaza, `apps:\n- {id: 1001, created_time: "2026-11-01T10:00:00+0000"}\n- {id: 1002, created_time: "2026-11-01T12:30:00+02:30"}`);
    expect((await exportWorld(plaza.world, plaza.registry)).apps).toMatchObject([
      { id: "1001", created_time: 1_793_527_200 },
      { id: "1002", created_time: 1_793_527_200 },
    ]);
  });

  test("the clock of the file is the default time of its entries", async () => {
    const plaza = await openPlaza();
    await load(plaza, `clock: {now: 1700000000, frozen: true}\napps: [{id: "1001"}]\ntokens: [{token: t, type: app, app: "1001"}]`);
    const file = await exportWorld(plaza.world, plaza.registry);
    expect(file).toMatchObject({
      clock: { now: 1_700_000_000, frozen: true },
      apps: [{ created_time: 1_700_000_000 }],
      tokens: [{ issued_at: 1_700_000_000 }],
    });
  });

  test("a refused file does not move the clock", async () => {
    const plaza = await openPlaza();
    const before = plaza.world.clock.nowMs();
    await expect(load(plaza, `clock: {now: 1700000000, frozen: true}\nlabels: [{id: 1, page: 2, name: x}]`)).rejects.toThrow("labels[0].page");
    expect(plaza.world.clock.nowMs()).toBe(before);
  });

  test("an empty file, or one of comments, loads nothing", async () => {
    const plaza = await openPlaza();
    for (const text of ["", "# nothing\n", "{}", "labels:\n"]) await load(plaza, text);
    expect(await isEmpty(plaza.world)).toBeTrue();
  });
});

test("asterisks and ampersands in text are not aliases", async () => {
  const plaza = await openPlaza();
  const names = ["a *b* &c", "*b", "&c *d", "- *e", "f: *g"];
  const users = names.map((name, i) => `- {id: ${i + 1}, name: ${JSON.stringify(name)}}`);
  const block = "- id: 9\n  name: |-\n    &a *b\n    - *c\n- id: 10\n  name: plain &a *b";
  await load(plaza, `# &a *a\nusers:\n${users.join("\n")}\n${block}\n`);
  const file = (await exportWorld(plaza.world, plaza.registry)) as unknown as { users: { name: string }[] };
  expect(file.users.map(({ name }) => name)).toEqual([...names, "&a *b\n- *c", "plain &a *b"]);
});

test("D-164: the profile of the file, not that of the world, decides which fields it may subscribe to", async () => {
  const file = (profile: string) => `profile: ${profile}\napps:\n- {id: 1, subscriptions: [{object: page, fields: [feed]}]}`;
  const plaza = await openPlaza();
  await load(plaza, file("clients"));
  expect(plaza.world.profile).toBe("clients");
  expect((await refusal(file("strict"), "profile: clients")).message).toBe("apps[0].subscriptions[0].fields[0] is not a field of page (line 3)");
});

describe("a world file is refused, naming place and line:", () => {
  const cases: [title: string, text: string, message: string][] = [
    [
      "a reference that leads nowhere",
      "pages:\n- {id: 2001}\nlabels:\n- {id: 5001, page: 2002, name: vip}",
      "labels[0].page refers to 2002, which does not exist (line 4)",
    ],
    [
      "a reference to another kind",
      "users:\n- {id: 3001}\nlabels:\n- {id: 5001, page: 3001, name: vip}",
      "labels[0].page refers to 3001, which is a user and not a page (line 4)",
    ],
    [
      "a label of another page's person",
      "pages:\n- {id: 2001}\n- {id: 2002, people: [{psid: 9001}]}\nlabels:\n- {id: 5001, page: 2001, name: vip, users: [9001]}",
      "labels[0].users[0] refers to 9001, which belongs to 2002 and not to 2001 (line 5)",
    ],
    [
      "an album that holds another account's medium",
      "social_accounts: [{id: 6001}, {id: 6002}]\nmedia:\n- {id: 6101, owner: 6001}\n- {id: 6102, owner: 6002, children: [6101]}",
      "media[1].children[0] refers to 6101, which belongs to 6001 and not to 6002 (line 4)",
    ],
    [
      "anything in a file of another profile",
      "profile: clients\npages:\n- {id: 2001}\nlabels:\n- {id: 5001, page: 2002, name: vip}",
      "labels[0].page refers to 2002, which does not exist (line 5)",
    ],
    ["an unknown key", "pges: []", "pges is not known here; did you mean pages? (line 1)"],
    ["an unknown key of an entry", "pages:\n- {id: 1}\n- id: 2\n  nmae: x", "pages[1].nmae is not known here; did you mean name? (line 4)"],
    [
      "a misspelt key before the one it stands for",
      "pages: [{id: 2001}]\nlabels:\n- {id: 1, page: 2001, nam: vip}",
      "labels[0].nam is not known here; did you mean name? (line 3)",
    ],
    ["a missing key", "pages: [{id: 2001}]\nlabels:\n- {id: 1, page: 2001}", "labels[0].name is required (line 3)"],
    ["an id twice in one section", "pages:\n- {id: 1}\n- {id: 2}\n- {id: 1}", "pages[2] repeats the id 1 (line 4)"],
    ["an id twice in two sections", "users: [{id: 1}]\npages:\n- {id: 1}", "pages[0].id 1 is taken (line 3)"],
    ["an id that is none", "pages:\n- {id: 0}", "pages[0].id must be an id"],
    [
      "an id that would lose digits",
      "pages:\n- {id: 9223372036854775806}",
      "the number 9223372036854775806 has more digits than can be kept: write it in quotes, or with fewer digits (line 2)",
    ],
    [
      "an id above the numbers that count by one",
      "pages:\n- {id: 9007199254740992}",
      "pages[0].id must be in quotes: it has too many digits (line 2)",
    ],
    ["an id that is too large", 'pages:\n- {id: "9223372036854775808"}', "pages[0].id must be an id"],
    ["a number for a text", "pages:\n- {id: 1, name: 12}", "pages[0].name must be a text; put it in quotes (line 2)"],
    ["U+0000", 'pages:\n- {id: 1, name: "a\\0b"}', "pages[0].name contains U+0000 or a lone surrogate (line 2)"],
    ["a word that is none of the known", "apps:\n- {id: 1, mode: alive}", "apps[0].mode must be one of live, development (line 2)"],
    ["a time that is none", "apps:\n- {id: 1, created_time: yesterday}", "apps[0].created_time must be Unix seconds or an ISO 8601 time (line 2)"],
    ["a section that is no list", "pages: {id: 1}", "pages must be a list (line 1)"],
    ["a list at the top", "- pages", "a world file must be a map"],
    ["the same section twice", "users: [{id: 1}]\npages: []\nusers: [{id: 2}]", "Map keys must be unique (line 3)"],
    [
      "an alias",
      "pages:\n- &cafe {id: 1}\nlabels:\n- {id: 2, page: *cafe, name: a}",
      "*cafe is an alias, which is not supported: write the repeated value out (line 4)",
    ],
    [
      "an alias behind blank lines",
      "pages:\n\n\n- &cafe {id: 1}\n\nlabels:\n- {id: 2, page: *cafe, name: a}",
      "*cafe is an alias, which is not supported: write the repeated value out (line 7)",
    ],
    [
      "an alias in a merge",
      "users: [&a {id: 1}]\npages:\n- {<<: *a}",
      "*a is an alias, which is not supported: write the repeated value out (line 3)",
    ],
    ["an alias as a key", "users: [&a {id: 1}]\n? *a\n: []", "*a is an alias, which is not supported: write the repeated value out (line 2)"],
    ["an alias in braces", "{users: [&a {id: 1}, *a]}", "*a is an alias, which is not supported: write the repeated value out (line 1)"],
    ["broken YAML", "pages: [{id: 1}\nusers: []", "(line 2)"],
    ["broken JSON", '{"pages": [{"id": "1"}', "(line 1)"],
    [
      "a token without its principal",
      'apps: [{id: "1"}]\ntokens:\n- {token: t, type: user, app: 1}',
      "tokens[0].user is required for a token of type user (line 3)",
    ],
    [
      "a token with a principal of another type",
      'apps: [{id: "1"}]\nusers: [{id: 3}]\ntokens:\n- {token: t, type: app, app: 1, user: 3}',
      "tokens[0].user must be left out for a token of type app (line 4)",
    ],
    ["a token of an app that does not exist", "tokens:\n- {token: t, type: app, app: 1}", "tokens[0].app refers to 1, which does not exist (line 2)"],
    [
      "a token twice",
      'apps: [{id: "1"}]\ntokens:\n- {token: t, type: app, app: 1}\n- {token: t, type: app, app: 1}',
      "tokens[1].token is taken (line 4)",
    ],
    ["a token without value", 'apps: [{id: "1"}]\ntokens:\n- {type: app, app: 1}', "tokens[0].token is required (line 3)"],
    [
      "a calendar that leaves too little grace",
      'versions:\n  marketing:\n  - {version: "24.0", released: "2025-10-08", until: "2026-03-01"}\n  - {version: "25.0", released: "2026-02-18"}',
      "versions.marketing[0].until leaves less than 90 days",
    ],
  ];
  for (const [title, text, message] of cases) {
    test(title, async () => {
      expect((await refusal(text)).message).toContain(message);
    });
  }

  test("a label of a person who already belongs to another page", async () => {
    const more = "pages: [{id: 2002}]\nlabels: [{id: 5002, page: 2002, name: vip, users: [9001]}]";
    expect((await refusal(more, CAFE)).message).toContain("labels[0].users[0] refers to 9001, which belongs to 2001 and not to 2002");
  });

  test("an id that exists in the world", async () => {
    expect((await refusal("labels:\n- {id: 5001, page: 2001, name: again}", CAFE)).message).toBe("labels[0].id 5001 is taken (line 2)");
  });
});
