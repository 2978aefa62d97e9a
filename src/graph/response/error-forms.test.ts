import { describe, expect, test } from "bun:test";
import { appRateLimited, defineError, GraphError, invalidParameter, tokenExpired, tokenMissing } from "#kernel/errors";
import { renderError } from "./error-forms.ts";

describe("D-20: an error", () => {
  const error = invalidParameter("limit", "must be a positive integer");
  const fields = {
    ...{ message: "(#100) Param limit must be a positive integer", type: "OAuthException", code: 100, is_transient: false },
    ...{ error_data: { parameter: "limit" }, pftrace_id: "T" },
  };

  test("is wrapped, or flat for page messaging, or has both forms for clients", () => {
    expect(renderError(error, "wrapped", "strict", "T")).toEqual({ status: 400, headers: {}, body: { error: fields } });
    expect(renderError(error, "flat", "strict", "T").body).toEqual(fields);
    expect(renderError(error, "wrapped", "clients", "T").body).toEqual({ error: fields });
    const both = renderError(error, "flat", "clients", "T").body;
    expect(both).toEqual({ error: fields, ...fields });
    expect(Object.keys(both)[0]).toBe("error");
  });

  test("D-14: has another status and code in the flat form if its entry has, and the challenge for 401", () => {
    const wrapped = renderError(tokenMissing("access_token"), "wrapped", "strict", "T");
    expect(wrapped).toMatchObject({ status: 401, body: { error: { code: 104 } } });
    expect(wrapped.headers["www-authenticate"]).toStartWith('Bearer realm="Plaza", error="invalid_token", error_description="');
    expect(renderError(tokenMissing("access_token"), "flat", "strict", "T")).toMatchObject({ status: 403, headers: {}, body: { code: 190 } });
    expect(renderError(tokenExpired("access_token"), "wrapped", "strict", "T").body).toMatchObject({ error: { code: 190, error_subcode: 463 } });
  });

  test("the challenge contains nothing that could end its text", () => {
    const odd = new GraphError("tokenInvalid", 'a"b\\c\r\nd\u00e9~');
    expect(renderError(odd, "wrapped", "strict", "T").headers["www-authenticate"]).toEndWith('error_description="a b c  d ~"');
  });

  test("has is_transient, the text for people, and its headers", () => {
    const limited = renderError(appRateLimited(7), "wrapped", "strict", "T");
    expect(limited).toMatchObject({ status: 429, headers: { "retry-after": "7" }, body: { error: { is_transient: true } } });
    const explained = new GraphError("invalidParameter", "m", { userTitle: "Title", userMessage: "Message" });
    expect(renderError(explained, "wrapped", "strict", "T").body).toMatchObject({ error: { error_user_title: "Title", error_user_msg: "Message" } });
  });
});

const plain = defineError({ name: "plain", status: 400, code: 100, type: "OAuthException", when: "", mend: "" });
const other = defineError({
  ...{
    name: "other",
    status: 401,
    flatStatus: 403,
    code: 104,
    flatCode: 190,
    subcode: 463,
    type: "GraphMethodException",
    isTransient: true,
    when: "",
    mend: "",
  },
});
const keysOf = (body: unknown): string[] => Object.keys(body as object);

describe("an error field by field", () => {
  test("has its own status and code in the wrapped form, and its flat form's if they differ", () => {
    const error = new GraphError(other, "no");
    const fields = { message: "no", type: "GraphMethodException", error_subcode: 463, is_transient: true, pftrace_id: "T" };
    expect(renderError(error, "wrapped", "strict", "T")).toMatchObject({ status: 401, body: { error: { ...fields, code: 104 } } });
    expect(renderError(error, "flat", "strict", "T")).toEqual({ status: 403, headers: {}, body: { ...fields, code: 190 } });
    for (const form of ["wrapped", "flat"] as const) {
      const { status, body } = renderError(new GraphError(plain, "no"), form, "strict", "T");
      const shown = { message: "no", type: "OAuthException", code: 100, is_transient: false, pftrace_id: "T" };
      expect({ status, body }).toEqual({ status: 400, body: form === "flat" ? shown : { error: shown } });
    }
  });

  test("has its fields in one order, without absent ones", () => {
    const details = { data: { parameter: "a" }, userTitle: "Title", userMessage: "Message", headers: { "retry-after": "5" } };
    const { headers, body } = renderError(new GraphError(other, "no", details), "flat", "strict", "T");
    expect(keysOf(body)).toEqual([
      ...["message", "type", "code", "error_subcode", "is_transient", "error_data", "error_user_title", "error_user_msg", "pftrace_id"],
    ]);
    expect(body).toMatchObject({ error_data: { parameter: "a" }, error_user_title: "Title", error_user_msg: "Message" });
    expect(headers).toEqual({ "retry-after": "5" });
    expect(keysOf(renderError(new GraphError(plain, "no"), "flat", "strict", "T").body)).toEqual([
      "message",
      "type",
      "code",
      "is_transient",
      "pftrace_id",
    ]);
  });

  test("is also below `error` in the profile clients if it is flat, and `error` is first", () => {
    const { body } = renderError(new GraphError(plain, "no"), "flat", "clients", "T");
    const { error, ...flat } = body;
    expect(keysOf(body)[0]).toBe("error");
    expect(error).toEqual(flat);
    expect(keysOf(renderError(new GraphError(plain, "no"), "wrapped", "clients", "T").body)).toEqual(["error"]);
  });

  test("D-14: has a challenge if its status is 401, and nothing in it can end its quotes", () => {
    const message = 'a "b" \\ é\n c';
    expect(renderError(new GraphError(other, message), "wrapped", "strict", "T").headers).toEqual({
      "www-authenticate": 'Bearer realm="Plaza", error="invalid_token", error_description="a  b       c"',
    });
    for (const [error, form] of [
      [other, "flat"],
      [plain, "wrapped"],
    ] as const)
      expect(renderError(new GraphError(error, message), form, "strict", "T").headers).toEqual({});
  });
});
