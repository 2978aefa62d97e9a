import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { Config } from "#config/config";
import { keyRingOf } from "#config/secret-key";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { randomKey } from "#system";
import { answerDialog, openDialog } from "./login.dialog.ts";

const BACK = "https://shop.example/back";
const world = {
  apps: [
    { id: "1001", name: "Shop", secret: "s3cret", redirect_uris: [BACK, "https://shop.example/other?x=1"] },
    { id: "1002", name: "Other", secret: "other", redirect_uris: [BACK] },
  ],
  users: [
    { id: "3001", name: "Ada" },
    { id: "3002", name: "Bob" },
  ],
  pages: ["2001", "2002", "2003"].map((id) => ({ id, name: `Page ${id}`, roles: id === "2003" ? [] : [{ user: "3001", tasks: ["MESSAGING"] }] })),
  social_accounts: [{ id: "5001", username: "cafe", user: "3001", professional: true }],
};
const SCOPES = "pages_show_list,pages_messaging,email";
const BROWSER = "b".repeat(32);

const query = (given: Record<string, string> = {}) =>
  new URLSearchParams({ client_id: "1001", redirect_uri: BACK, scope: SCOPES, state: "x&y", ...given });

/** Opens the login dialog and sends its form, as a person does in a browser. Returns the address to which the dialog sends the person back. */
async function locationOf(
  plaza: TestPlaza,
  given: Record<string, string> = {},
  chosen: Record<string, string | string[]> = {},
  surface: "base" | "social_login" = "base",
) {
  const form = await openDialog(plaza.world, surface, query(given), BROWSER);
  if (form.kind !== "form") throw new Error(JSON.stringify(form));
  const fields = { person: "3001", scope: [...form.scopes], action: "allow", form_token: form.form_token, ...chosen };
  const pairs = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one]));
  const answer = await answerDialog(plaza.world, surface, new URLSearchParams(pairs), BROWSER);
  if (answer.kind !== "redirect") throw new Error(JSON.stringify(answer));
  return answer.location;
}

const logIn = async (...given: Parameters<typeof locationOf>) => new URL(await locationOf(...given)).searchParams;

const codeOf = async (...given: Parameters<typeof logIn>): Promise<string> => (await logIn(...given)).get("code") ?? "";

const exchange = (plaza: TestPlaza, code: string, given: Record<string, string> = {}) =>
  plaza.get("/v26.0/oauth/access_token", { query: { client_id: "1001", client_secret: "s3cret", redirect_uri: BACK, code, ...given } });

async function tokenOf(plaza: TestPlaza, ...given: [Record<string, string>?, Record<string, string | string[]>?]): Promise<string> {
  const { status, body } = await exchange(plaza, await codeOf(plaza, ...given));
  expect(status).toBe(200);
  return body.access_token;
}

onEachDatabase("login", (database) => {
  const open = () => openPlaza({ database, world, profile: "clients" });

  test("D-381, D-382: a code of the dialog is exchanged for a token of the person, by GET and by POST", async () => {
    const plaza = await open();
    const back = await logIn(plaza);
    expect([...back.keys()]).toEqual(["code", "state"]);
    expect(back.get("state")).toBe("x&y");
    const { status, body } = await exchange(plaza, back.get("code") ?? "");
    expect({ status, body }).toEqual({ status: 200, body: { access_token: expect.stringMatching(/^PLZ/), token_type: "bearer", expires_in: 5_400 } });
    expect((await plaza.get("/v26.0/me", { bearer: body.access_token })).body).toEqual({ id: "3001", name: "Ada" });
    const form = { client_id: "1001", client_secret: "s3cret", redirect_uri: BACK, grant_type: "authorization_code", code: await codeOf(plaza) };
    expect(await plaza.post("/oauth/access_token", { body: form })).toMatchObject({ status: 200, body: { token_type: "bearer" } });
  });

  test("D-382: the token ends in time; a longer one lasts 60 days, and a page token of that one does not end", async () => {
    const plaza = await open();
    const short = await tokenOf(plaza);
    const asked = { client_id: "1001", client_secret: "s3cret", grant_type: "pf_exchange_token", pf_exchange_token: short };
    const { body } = await plaza.get("/oauth/access_token", { query: asked });
    expect(body).toMatchObject({ token_type: "bearer", expires_in: 5_184_000 });
    const list = await plaza.get("/v26.0/me/accounts", { bearer: body.access_token });
    const shortList = await plaza.get("/v26.0/me/accounts", { bearer: short });
    plaza.time.realMs += 5_401 * 1_000;
    const read = async (token: string) => (await plaza.get("/v26.0/me", { bearer: token })).status;
    expect(await read(short)).toBe(401);
    expect(await read(body.access_token)).toBe(200);
    expect(await read(shortList.body.data[0].access_token)).toBe(401);
    plaza.time.realMs += 5_184_000 * 1_000;
    expect(await read(body.access_token)).toBe(401);
    expect(await read(list.body.data[0].access_token)).toBe(200);
  });

  test("D-382: a code that is sent again is refused, and all tokens that came from it are revoked", async () => {
    const plaza = await open();
    const code = await codeOf(plaza);
    const { body } = await exchange(plaza, code);
    const asked = { client_id: "1001", client_secret: "s3cret", grant_type: "pf_exchange_token", pf_exchange_token: body.access_token };
    const { body: long } = await plaza.get("/oauth/access_token", { query: asked });
    const { body: accounts } = await plaza.get("/me/accounts", { bearer: long.access_token });
    const other = await tokenOf(plaza);
    expect(await exchange(plaza, code)).toMatchObject({
      status: 400,
      body: { error: { code: 100, message: expect.stringContaining("was exchanged before") } },
    });
    for (const token of [body.access_token, long.access_token, accounts.data[0].access_token])
      expect((await plaza.get("/v26.0/me", { bearer: token })).body.error).toMatchObject({ code: 190, error_subcode: 466 });
    expect((await plaza.get("/v26.0/me", { bearer: other })).status).toBe(200);
  });

  test("D-382: of many exchanges of one code at once at most one wins, and its token is revoked by the others", async () => {
    const plaza = await open();
    const code = await codeOf(plaza);
    const all = await Promise.all(Array.from({ length: 8 }, () => exchange(plaza, code)));
    const won = all.filter(({ status }) => status === 200);
    expect([won.length, all.filter(({ status }) => status === 400).length]).toEqual([1, 7]);
    expect((await plaza.get("/v26.0/me", { bearer: won[0]?.body.access_token })).status).toBe(401);
  });

  test("D-384: declined permissions are listed, are not in the token, and can be asked for again", async () => {
    const plaza = await open();
    const token = await tokenOf(plaza, {}, { scope: ["pages_show_list"] });
    const listed = async (bearer: string) => (await plaza.get("/v26.0/me/permissions", { bearer })).body.data;
    expect(await listed(token)).toEqual([
      { permission: "email", status: "declined" },
      { permission: "pages_messaging", status: "declined" },
      { permission: "pages_show_list", status: "granted" },
      { permission: "public_profile", status: "granted" },
    ]);
    // A field of the form for a permission that the app did not request grants nothing, and the permissions that the person granted earlier stay
    // granted.
    const later = await tokenOf(plaza, { scope: "email", auth_type: "rerequest" }, { scope: ["email", "ads_management"] });
    expect(
      (await listed(later))
        .filter(({ status }: { status: string }) => status === "granted")
        .map(({ permission }: { permission: string }) => permission),
    ).toEqual([...["email", "pages_show_list", "public_profile"]]);
    expect((await plaza.get("/v26.0/me/accounts", { bearer: later })).status).toBe(200);
  });

  test("D-384: a declined permission stays declined until the app asks for it again with rerequest", async () => {
    const plaza = await open();
    await tokenOf(plaza, {}, { scope: ["pages_show_list"] });
    const formFor = async (given: Record<string, string>) => {
      const form = await openDialog(plaza.world, "base", query(given), BROWSER);
      return form.kind === "form" ? form.people : [];
    };
    expect(await formFor({})).toEqual([
      { id: "3001", name: "Ada", declined: ["pages_messaging", "email"] },
      { id: "3002", name: "Bob", declined: [] },
    ]);
    expect(await formFor({ scope: "email" })).toMatchObject([{ declined: ["email"] }, { declined: [] }]);
    expect(await formFor({ client_id: "1002" })).toMatchObject([{ declined: [] }, { declined: [] }]);
    expect(await formFor({ auth_type: "rerequest" })).toMatchObject([{ declined: [] }, { declined: [] }]);
    const statusOf = async (bearer: string, permission: string) =>
      (await plaza.get("/v26.0/me/permissions", { bearer })).body.data.find((one: { permission: string }) => one.permission === permission)?.status;
    // The form says that a permission is granted although the dialog did not ask for it, e.g. because a script changed the form.
    const later = await tokenOf(plaza, {});
    expect([await statusOf(later, "email"), await statusOf(later, "pages_show_list")]).toEqual(["declined", "granted"]);
    const asked = await tokenOf(plaza, { auth_type: "reauthenticate,rerequest" });
    expect(await statusOf(asked, "email")).toBe("granted");
    // A permission that the person has taken back counts as declined.
    await plaza.delete("/v26.0/me/permissions", { bearer: asked, query: { permission: "email" } });
    expect(await statusOf(await tokenOf(plaza, {}), "email")).toBe("declined");
    await plaza.delete("/v26.0/me/permissions", { bearer: asked, query: { permission: "public_profile" } });
    expect(await statusOf(await tokenOf(plaza, {}), "public_profile")).toBe("granted");
  });

  test("D-389: an app gets a token in the fragment, with or without a code, and the lists of permissions", async () => {
    const plaza = await open();
    const answerFor = async (given: Record<string, string>, chosen: Record<string, string | string[]> = {}) => {
      const { hash, search } = new URL(await locationOf(plaza, given, chosen));
      return { query: Object.fromEntries(new URLSearchParams(search)), fragment: Object.fromEntries(new URLSearchParams(hash.slice(1))) };
    };
    const token = await answerFor({ response_type: "token" });
    expect(token).toEqual({
      query: {},
      fragment: { access_token: expect.stringMatching(/^PLZ/), token_type: "bearer", expires_in: "5400", state: "x&y" },
    });
    expect((await plaza.get("/v26.0/me", { bearer: token.fragment.access_token ?? "" })).body).toEqual({ id: "3001", name: "Ada" });
    const both = await answerFor({ response_type: "code token granted_scopes", auth_type: "rerequest" }, { scope: ["email"] });
    expect(both).toEqual({
      query: {},
      fragment: {
        ...{ access_token: expect.any(String), token_type: "bearer", expires_in: "5400", code: expect.any(String), state: "x&y" },
        ...{ granted_scopes: "public_profile,email", denied_scopes: "pages_show_list,pages_messaging" },
      },
    });
    expect(await answerFor({ response_type: "code,granted_scopes", scope: "email" })).toEqual({
      query: { code: expect.any(String), granted_scopes: "public_profile,email", denied_scopes: "", state: "x&y" },
      fragment: {},
    });
    const { code = "", access_token = "" } = both.fragment;
    expect((await exchange(plaza, code)).status).toBe(200);
    expect((await plaza.get("/v26.0/me", { bearer: access_token })).status).toBe(200);
    // If a code is sent twice, Plaza revokes the token for which the code was exchanged.
    expect((await exchange(plaza, code)).status).toBe(400);
    expect((await plaza.get("/v26.0/me", { bearer: access_token })).status).toBe(401);
    const cancelled = await answerFor({ response_type: "token" }, { action: "cancel" });
    expect(cancelled).toMatchObject({ query: {}, fragment: { error: "access_denied", error_reason: "user_denied", state: "x&y" } });
  });

  test("D-384: a permission that is taken back is missing at once; removing the app revokes all its tokens for the person", async () => {
    const plaza = await open();
    const token = await tokenOf(plaza);
    const accounts = await plaza.get("/v26.0/me/accounts", { bearer: token });
    const ofOther = await exchange(plaza, await codeOf(plaza, { client_id: "1002" }), { client_id: "1002", client_secret: "other" });
    expect((await plaza.delete("/v26.0/me/permissions", { bearer: token, query: { permission: "pages_show_list" } })).body).toEqual({
      success: true,
    });
    expect(await plaza.get("/v26.0/me/accounts", { bearer: token })).toMatchObject({ status: 403, body: { error: { code: 10 } } });
    const again = await plaza.delete("/v26.0/me/permissions", { bearer: token, query: { permission: "pages_show_list" } });
    expect(again).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining("permission") } } });
    expect((await plaza.delete("/v26.0/3001/permissions", { bearer: token })).body).toEqual({ success: true });
    for (const dead of [token, accounts.body.data[0].access_token])
      expect((await plaza.get("/v26.0/me", { bearer: dead })).body.error).toMatchObject({ code: 190, error_subcode: 466 });
    expect((await plaza.get("/v26.0/me", { bearer: ofOther.body.access_token })).status).toBe(200);
    // A person's token cannot read the permissions of another person.
    expect((await plaza.get("/v26.0/3002/permissions", { bearer: ofOther.body.access_token })).status).toBe(400);
  });

  test("D-384: an app reads and takes back permissions of its people with its own token, and sees nobody else", async () => {
    const plaza = await open();
    const bearer = "1001|s3cret";
    const token = await tokenOf(plaza);
    const ofOther = await exchange(plaza, await codeOf(plaza, { client_id: "1002" }), { client_id: "1002", client_secret: "other" });
    expect((await plaza.get("/v26.0/3001/permissions", { bearer })).body.data).toContainEqual({ permission: "email", status: "granted" });
    const missing = { status: 400, body: { error: { code: 100, error_subcode: 33 } } };
    for (const person of ["3002", "3999"]) {
      expect(await plaza.get(`/v26.0/${person}/permissions`, { bearer })).toMatchObject(missing);
      expect(await plaza.delete(`/v26.0/${person}/permissions`, { bearer })).toMatchObject(missing);
    }
    expect((await plaza.delete("/v26.0/3001/permissions", { bearer, query: { permission: "email" } })).body).toEqual({ success: true });
    expect((await plaza.get("/v26.0/me/permissions", { bearer: token })).body.data).toContainEqual({ permission: "email", status: "declined" });
    expect((await plaza.delete("/v26.0/3001/permissions", { bearer })).body).toEqual({ success: true });
    expect((await plaza.get("/v26.0/me", { bearer: token })).status).toBe(401);
    expect((await plaza.get("/v26.0/me", { bearer: ofOther.body.access_token })).status).toBe(200);
    expect(await plaza.delete("/v26.0/3001/permissions", { bearer })).toMatchObject(missing);
  });

  test("D-386: the pages of a person are listed in pages, with the same token each time", async () => {
    const plaza = await open();
    const token = await tokenOf(plaza);
    const first = await plaza.get("/v26.0/me/accounts", { bearer: token, query: { limit: 1 } });
    expect(first.body.data).toEqual([{ access_token: expect.any(String), name: "Page 2001", id: "2001", tasks: ["MESSAGING"] }]);
    const after = first.body.paging.cursors.after;
    const second = await plaza.get("/v26.0/me/accounts", { bearer: token, query: { limit: 1, after } });
    expect(second.body.data.map(({ id }: { id: string }) => id)).toEqual(["2002"]);
    const both = await plaza.get("/v26.0/me/accounts", { bearer: token });
    expect(both.body.data.map(({ access_token }: { access_token: string }) => access_token)).toEqual([
      ...[first.body.data[0].access_token, second.body.data[0].access_token],
    ]);
    const label = { token: both.body.data[0].access_token, body: { page_label_name: "vip" } };
    expect((await plaza.post("/v26.0/2001/custom_labels", label)).status).toBe(200);
    expect((await plaza.post("/v26.0/2002/custom_labels", label)).status).toBe(400);
  });

  test("D-386: page tokens stay the same when the sealing key is replaced", async () => {
    const keys = keyRingOf({ data: ":memory:", secret_key: undefined, further_secret_keys: [] } as unknown as Config, randomKey);
    const plaza = await openPlaza({ database, world, profile: "clients", keys });
    const bearer = await tokenOf(plaza);
    const listed = async () =>
      (await plaza.get("/v26.0/me/accounts", { bearer })).body.data.map(({ access_token }: { access_token: string }) => access_token);
    const before = await listed();
    keys.rotate(plaza.time.realMs + 86_400_000);
    expect(await listed()).toEqual(before);
    expect(new Set(before).size).toBe(2);
  });

  test("D-383: the host of the alternate flow gives tokens of accounts, which can be lengthened and renewed there", async () => {
    const plaza = await open();
    const code = await codeOf(plaza, { scope: "social_business_basic" }, { person: "5001" }, "social_login");
    const form = { client_id: "1001", client_secret: "s3cret", redirect_uri: BACK, code };
    // A code from the dialog of one host cannot be exchanged at the other host.
    expect((await plaza.post("/oauth/access_token", { body: form })).status).toBe(400);
    const { body } = await plaza.post("/oauth/access_token", { surface: "social_login", body: form });
    expect(body).toEqual({ access_token: expect.any(String), user_id: "5001", permissions: ["social_business_basic"] });
    const asked = { grant_type: "social_exchange_token", client_secret: "s3cret" };
    const long = await plaza.get("/access_token", { surface: "social_login", bearer: body.access_token, query: asked });
    expect(long.body).toMatchObject({ token_type: "bearer", expires_in: 5_184_000 });
    const renewal = { surface: "social_login", bearer: long.body.access_token, query: { grant_type: "social_refresh_token" } } as const;
    expect((await plaza.get("/refresh_access_token", renewal)).body).toMatchObject({ expires_in: 5_184_000 });
    const wrong = { ...asked, client_secret: "other" };
    expect(await plaza.get("/access_token", { surface: "social_login", bearer: body.access_token, query: wrong })).toMatchObject({ status: 400 });
  });

  test("D-382: what is stored of a code and a token is a hash", async () => {
    const plaza = await open();
    const code = await codeOf(plaza);
    const { body } = await exchange(plaza, code);
    const stored = JSON.stringify(await plaza.dump(["login_codes.hash", "tokens.hash", "login_tokens.code"]));
    expect(stored).toContain(createHash("sha256").update(code).digest("hex"));
    expect([stored.includes(code), stored.includes(body.access_token)]).toEqual([false, false]);
  });
});

test("D-386: page tokens of two servers with the same key, world name and ids differ", async () => {
  const [values, ids]: [string[], unknown[]] = [[], []];
  for (const value of ["one", "two"]) {
    const tokens = [{ token: value, type: "user", app: "1001", user: "3001", scopes: ["pages_show_list"] }];
    const plaza = await openPlaza({ world: { ...world, tokens }, profile: "clients", seed: 7 });
    ids.push((await plaza.world.tokens.find(value))?.id, plaza.world.name);
    values.push((await plaza.get("/v26.0/me/accounts", { bearer: value })).body.data[0].access_token);
  }
  expect(ids.slice(0, 2)).toEqual(ids.slice(2));
  expect(values[0]).not.toBe(values[1]);
});

onEachDatabase("attacks on a login", (database) => {
  const open = () => openPlaza({ database, world, profile: "clients" });
  const refusalOf = async (plaza: TestPlaza, given: Record<string, string>) => {
    const answer = await openDialog(plaza.world, "base", query(given), BROWSER);
    return answer.kind === "problem" ? answer.text : answer.kind === "redirect" ? Object.fromEntries(new URL(answer.location).searchParams) : "form";
  };

  test("D-381: the dialog never sends anybody to an address that the app has not registered exactly", async () => {
    const plaza = await open();
    const near = [
      ...[
        "https://shop.example/back/",
        "https://shop.example/back?x=1",
        "https://shop.example/back#",
        "HTTPS://shop.example/back",
        "http://shop.example/back",
      ],
      ...[
        "https://shop.example/back/../evil",
        "https://shop.example@evil.example/back",
        "https://evil.example/https://shop.example/back",
        "",
        "javascript:alert(1)",
      ],
      ...["https://shop.example/other", "https://shop.example:443/back", "//shop.example/back", " https://shop.example/back"],
    ];
    for (const redirect_uri of near) {
      expect(await refusalOf(plaza, { redirect_uri })).toStartWith("redirect_uri is ");
      // If the address is not registered, other errors in the request do not send the person to this address either.
      expect(await refusalOf(plaza, { redirect_uri, response_type: "id_token" })).toStartWith("redirect_uri is ");
    }
    for (const client_id of ["", "9", "2001", "1001x", "0"])
      expect(await refusalOf(plaza, { client_id })).toStartWith("client_id is not the id of an app");
    const twice = query();
    twice.append("redirect_uri", "https://evil.example/");
    expect(await openDialog(plaza.world, "base", twice, BROWSER)).toEqual({ kind: "problem", text: "redirect_uri is given twice." });
  });

  test("D-381: errors of the request go to the registered address, with the state", async () => {
    const plaza = await open();
    const error_description = "response_type must be code, token or both, optionally with granted_scopes";
    for (const response_type of ["", "granted_scopes", "id_token", "code id_token", "none"])
      expect(await refusalOf(plaza, { response_type })).toEqual({
        ...{ error: "unsupported_response_type", error_reason: "invalid_request", error_description, state: "x&y" },
      });
    for (const response_type of ["token", "code token", "code granted_scopes", "id_token"]) {
      const account = await openDialog(plaza.world, "social_login", query({ response_type }), BROWSER);
      expect(account.kind === "redirect" ? account.location : "").toContain("error_description=response_type+must+be+code&");
    }
    expect(await refusalOf(plaza, { auth_type: "rerequest,x" })).toMatchObject({
      error: "invalid_request",
      error_description: expect.stringContaining("auth_type must be"),
    });
    const inFragment = await openDialog(plaza.world, "base", query({ response_type: "token", scope: "?" }), BROWSER);
    expect(inFragment.kind === "redirect" ? inFragment.location : "").toStartWith(`${BACK}#error=invalid_scope&`);
    expect(await refusalOf(plaza, { scope: "a b <script>" })).toMatchObject({ error: "invalid_scope", state: "x&y" });
    expect(await refusalOf(plaza, { state: "x".repeat(2_001) })).toEqual({
      ...{ error: "invalid_request", error_reason: "invalid_request", error_description: "state is too long" },
    });
    const cancelled = await logIn(plaza, { redirect_uri: "https://shop.example/other?x=1" }, { action: "cancel" });
    expect(Object.fromEntries(cancelled)).toEqual({
      ...{ x: "1", error: "access_denied", error_code: "200", error_reason: "user_denied", error_description: "Permissions error", state: "x&y" },
    });
  });

  test("D-382: a code is worth nothing to another app, at another address, after its time, or with a wrong secret", async () => {
    const plaza = await open();
    const fresh = () => codeOf(plaza);
    const message = async (given: Record<string, string>, code?: string) =>
      (await exchange(plaza, code ?? (await fresh()), given)).body.error.message;
    expect(await message({ client_id: "1002", client_secret: "other" })).toContain("code is not a code of this app");
    const code = await fresh();
    expect(await message({ redirect_uri: "https://shop.example/other?x=1" }, code)).toContain(
      "redirect_uri differs from the redirect_uri of the dialog",
    );
    // An exchange with a wrong `redirect_uri` marks the code as used, so that nobody can try several addresses with one code.
    expect(await message({}, code)).toContain("was exchanged before");
    const kept = await fresh();
    expect((await exchange(plaza, kept, { client_secret: "wrong" })).body.error.code).toBe(190);
    expect((await exchange(plaza, kept)).status).toBe(200);
    const old = await fresh();
    plaza.time.realMs += 601 * 1_000;
    expect(await message({}, old)).toContain("code has expired");
    expect(await message({}, "nothing")).toContain("is not a code of this app");
  });

  test("D-382: a code with a challenge needs its verifier, and one without a challenge takes none", async () => {
    const plaza = await open();
    const verifier = "v".repeat(43);
    const code_challenge = createHash("sha256").update(verifier).digest("base64url");
    const asked = { code_challenge, code_challenge_method: "S256" };
    expect((await exchange(plaza, await codeOf(plaza, asked), { code_verifier: verifier })).status).toBe(200);
    const message = async (given: Record<string, string>, sent: Record<string, string>) =>
      (await exchange(plaza, await codeOf(plaza, given), sent)).body.error.message;
    expect(await message(asked, {})).toContain("code_verifier is required");
    expect(await message(asked, { code_verifier: code_challenge })).toContain("does not match the code_challenge of the dialog");
    expect(await message({}, { code_verifier: verifier })).toContain("the dialog was opened without code_challenge");
    // The dialog accepts neither the weaker method of a code challenge (`plain`) nor a challenge without a method.
    expect(await refusalOf(plaza, { code_challenge: verifier })).toMatchObject({ error: "invalid_request" });
    expect(await refusalOf(plaza, { code_challenge: verifier, code_challenge_method: "plain" })).toMatchObject({ error: "invalid_request" });
  });

  test("D-381: a form counts only from the browser that got it, for a while, at its host, and as it was made", async () => {
    const plaza = await open();
    const form = await openDialog(plaza.world, "base", query(), BROWSER);
    const token = form.kind === "form" ? form.form_token : "";
    const send = (form_token: string, browser = BROWSER, surface: "base" | "social_login" = "base", person = "3001") =>
      answerDialog(plaza.world, surface, new URLSearchParams({ form_token, person, action: "allow" }), browser);
    expect((await send(token)).kind).toBe("redirect");
    const sealedSecret = (await plaza.world.tokens.findApp("1001" as never))?.sealed_secret ?? "";
    for (const wrong of [
      send(""),
      send("x"),
      send(`${token}x`),
      send(sealedSecret),
      send(token, "c".repeat(32)),
      send(token, BROWSER, "social_login"),
    ])
      expect(await wrong).toEqual({
        kind: "problem",
        text: expect.stringContaining("This form does not belong to a login page that is open in this browser"),
      });
    expect(await send(token, BROWSER, "base", "5001")).toEqual({ kind: "problem", text: expect.stringContaining("5001 is not the id of a person") });
    expect(await send(token, BROWSER, "base", "")).toEqual({ kind: "problem", text: expect.stringContaining("Nobody was chosen") });
    plaza.time.realMs += 3_601 * 1_000;
    expect((await send(token)).kind).toBe("problem");
  });

  test("D-382: exchanges of other tokens, and unknown grants, are refused", async () => {
    const plaza = await open();
    const asked = (given: Record<string, string>) =>
      plaza.get("/oauth/access_token", { query: { client_id: "1001", client_secret: "s3cret", ...given } });
    const ofOther = await exchange(plaza, await codeOf(plaza, { client_id: "1002" }), { client_id: "1002", client_secret: "other" });
    const message = async (given: Record<string, string>) => (await asked(given)).body.error.message;
    expect(await message({ grant_type: "pf_exchange_token", pf_exchange_token: ofOther.body.access_token })).toContain(
      "must be a token of a user of this app",
    );
    expect(await message({ grant_type: "pf_exchange_token", pf_exchange_token: "1001|s3cret" })).toContain("must be a token of a user of this app");
    expect(await message({ grant_type: "pf_exchange_token" })).toContain("pf_exchange_token is required");
    expect((await asked({ grant_type: "pf_exchange_token", pf_exchange_token: "unknown" })).body.error.code).toBe(190);
    expect(await message({ grant_type: "password" })).toContain("grant_type must be authorization_code");
    expect(await message({})).toContain("code is required");
    expect((await asked({ grant_type: "client_credentials" })).body).toEqual({ access_token: "1001|s3cret", token_type: "bearer" });
    expect((await plaza.get("/oauth/access_token", { query: { client_id: "1001" } })).body.error).toMatchObject({ code: 104 });
  });

  test("D-382: an app may send its id and secret as a name and a password", async () => {
    const plaza = await open();
    const ask = async (text: string, query: Record<string, string> = {}) => {
      const headers = { authorization: `Basic ${btoa(text)}` };
      return (await plaza.get("/oauth/access_token", { query: { grant_type: "client_credentials", ...query }, headers })).body;
    };
    expect(await ask("1001:s3cret")).toEqual({ access_token: "1001|s3cret", token_type: "bearer" });
    expect((await ask("1001:%73%33cret")).access_token).toBe("1001|s3cret");
    expect((await ask("1001:wrong")).error).toMatchObject({ code: 190 });
    // The parameters `client_id` and `client_secret` have precedence over the header, and Plaza never combines an id from one with a secret from the
    // other.
    expect((await ask("1001:s3cret", { client_id: "1002", client_secret: "other" })).access_token).toBe("1002|other");
    for (const text of ["", "1001", ":", "x:y"]) expect((await ask(text)).error.code).toBeOneOf([104, 190]);
  });

  test("D-381: in the profile strict there is no login", async () => {
    const plaza = await openPlaza({ database, world });
    const asked = { client_id: "1001", client_secret: "s3cret", grant_type: "client_credentials" };
    expect((await plaza.get("/oauth/access_token", { query: asked })).body.error.code).toBe(2_500);
  });
});
