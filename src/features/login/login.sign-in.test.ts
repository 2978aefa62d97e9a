import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { answerDialog, openDialog } from "./login.dialog.ts";
import { signedRequest } from "./login.signed-request.ts";

const BACK = "https://shop.example/back";
const world = {
  apps: [{ id: "1001", name: "Shop", secret: "s3cret", redirect_uris: [BACK] }],
  users: [
    { id: "3001", name: "Ada" },
    { id: "3002", name: "Bob" },
  ],
  social_accounts: [{ id: "5001", username: "cafe", social_scoped_id: "6901" }],
};
const KEY = "k".repeat(32);
const [BROWSER, OTHER] = ["b".repeat(32), "c".repeat(32)];
const NOW = 1_800_000_000;

onEachDatabase("who signed in", (database) => {
  async function open(surface: "base" | "social_login" = "base") {
    const plaza = await openPlaza({ database, world, profile: "clients", isSandbox: false });
    const dialog = `https://graph.example.com/dialog/oauth?${new URLSearchParams({ client_id: "1001", redirect_uri: BACK, scope: "email", state: "s" })}`;
    const ask = (signed_in?: string, browser = BROWSER, nowSeconds = NOW) => {
      const address = new URL(dialog);
      if (signed_in !== undefined) address.searchParams.set("signed_in", signed_in);
      return openDialog(plaza.world, surface, address.searchParams, browser, {
        url: "https://login.example.com/in?from=plaza",
        key: KEY,
        address,
        nowSeconds,
      });
    };
    const sent = async (browser = BROWSER) => {
      const answer = await ask(undefined, browser);
      return new URL(answer.kind === "sign_in" ? answer.location : "none:");
    };
    const nonce = (await sent()).searchParams.get("nonce") ?? "";
    /** Makes an answer of the operator's sign-in page. */
    const signed = (changed: object = {}, key = KEY) =>
      signedRequest({ user_id: surface === "base" ? "3001" : "5001", nonce, issued_at: NOW, ...changed }, key);
    return { plaza, ask, sent, signed, dialog };
  }

  test("D-390: a person signs in at the operator's page, and answers the dialog as herself", async () => {
    const { plaza, ask, sent, signed, dialog } = await open();
    const page = await sent();
    expect(page.origin + page.pathname).toBe("https://login.example.com/in");
    expect(page.searchParams.get("from")).toBe("plaza");
    expect(page.searchParams.get("return_to")).toBe(dialog);
    const form = await ask(signed());
    if (form.kind !== "form") throw new Error(JSON.stringify(form));
    expect(form).toMatchObject({ isSignedIn: true, people: [{ id: "3001", name: "Ada", declined: [] }] });
    // A person cannot change the form of the dialog so that it counts as the form of another person.
    const fields = new URLSearchParams({ form_token: form.form_token, person: "3002", person_id: "3002", scope: "email", action: "allow" });
    const answer = await answerDialog(plaza.world, "base", fields, BROWSER, false);
    const code = new URL(answer.kind === "redirect" ? answer.location : "none:").searchParams.get("code") ?? "";
    const query = { client_id: "1001", client_secret: "s3cret", redirect_uri: BACK, code };
    const { body } = await plaza.get("/oauth/access_token", { query });
    expect((await plaza.get("/v26.0/me", { bearer: body.access_token })).body).toEqual({ id: "3001", name: "Ada" });
    // A server with a sign-in page refuses the form of a sandbox, in which people choose who they are, and a sandbox without such a page refuses a
    // form of this server.
    const chosen = await openDialog(plaza.world, "base", new URL(dialog).searchParams, BROWSER);
    fields.set("form_token", chosen.kind === "form" ? chosen.form_token : "");
    expect((await answerDialog(plaza.world, "base", fields, BROWSER, false)).kind).toBe("problem");
    fields.set("form_token", form.form_token);
    expect((await answerDialog(plaza.world, "base", fields, BROWSER)).kind).toBe("problem");
  });

  test("D-390: an answer of the page counts once, for its browser, for two minutes, and with the key", async () => {
    const { ask, sent, signed } = await open();
    const problemOf = async (...given: Parameters<typeof ask>) => {
      const answer = await ask(...given);
      return answer.kind === "problem" ? answer.text : answer.kind;
    };
    expect(await problemOf(signed({}, "x".repeat(32)))).toContain("the signature is wrong");
    const [signature, payload] = signed().split(".");
    for (const wrong of ["", "x", `${signature}.`, `.${payload}`, `${signature}.${payload}x`, `${signature}.${payload}.`])
      expect(await problemOf(wrong)).toContain("the signature is wrong");
    expect(await problemOf(signed({ algorithm: "none" }))).toContain("the signature is wrong");
    expect(await problemOf(signed(), OTHER)).toContain("the answer is for another browser");
    expect(await problemOf(signed({ nonce: undefined }))).toContain("the answer is for another browser");
    expect((await sent(OTHER)).searchParams.get("nonce")).not.toBe((await sent()).searchParams.get("nonce"));
    expect(await problemOf(signed(), BROWSER, NOW + 120)).toContain("older than 120 seconds");
    for (const issued_at of [NOW + 61, "now", null, Number.MAX_VALUE])
      expect(await problemOf(signed({ issued_at }))).toContain("issued_at must be the current time");
    for (const user_id of ["5001", "3999", 3001, "", undefined, "x"])
      expect(await problemOf(signed({ user_id }))).toContain("user_id must be the id of a user");
    // The answers of the sign-in page that were refused do not count as used. If several requests have the same answer at the same time, one request
    // succeeds, and the senders of the others have to sign in again.
    const kinds = await Promise.all(Array.from({ length: 6 }, () => problemOf(signed(), BROWSER, NOW + 119)));
    expect(kinds.sort()).toEqual(["form", ...Array.from({ length: 5 }, () => "sign_in")]);
    expect(await problemOf(`${signature}=.${payload}`)).toBe("sign_in");
    const again = await ask(signed());
    expect(again.kind === "sign_in" ? again.location : "").not.toContain("signed_in");
    // Plaza deletes a used answer of the sign-in page after the answer has expired.
    expect((await ask(signed({ issued_at: NOW + 600 }), BROWSER, NOW + 600)).kind).toBe("form");
  });

  test("D-390: at the host of the alternate flow the page names a social account", async () => {
    const { ask, signed } = await open("social_login");
    expect(await ask(signed({ user_id: "3001" }))).toMatchObject({ kind: "problem", text: expect.stringContaining("a social account") });
    expect(await ask(signed({ user_id: "6901" }))).toMatchObject({ kind: "problem" });
    expect(await ask(signed())).toMatchObject({ kind: "form", people: [{ id: "5001", name: "cafe" }] });
  });
});
