import { describe, expect, test } from "bun:test";
import { appRateLimited, GraphError, invalidParameter, tokenExpired, tokenMissing } from "#kernel/errors";
import { renderError } from "./error-forms.ts";

describe("D-20: an error", () => {
  const error = invalidParameter("limit", "must be a positive integer");
  const fields = {
    ...{ message: "(#100) Param limit must be a positive integer", type: "OAuthException", code: 100, is_transient: false },
    ...{ error_data: { parameter: "limit" }, pftrace_id: "T" },
  };

  test("is wrapped, or flat for page messaging, or both ways for clients", () => {
    expect(renderError(error, "wrapped", "strict", "T")).toEqual({ status: 400, headers: {}, body: { error: fields } });
    expect(renderError(error, "flat", "strict", "T").body).toEqual(fields);
    expect(renderError(error, "wrapped", "clients", "T").body).toEqual({ error: fields });
    const both = renderError(error, "flat", "clients", "T").body;
    expect(both).toEqual({ error: fields, ...fields });
    expect(Object.keys(both)[0]).toBe("error");
  });

  test("D-14: has another status and code in the flat form where its entry says so, and the challenge where it is 401", () => {
    const wrapped = renderError(tokenMissing("access_token"), "wrapped", "strict", "T");
    expect(wrapped).toMatchObject({ status: 401, body: { error: { code: 104 } } });
    expect(wrapped.headers["www-authenticate"]).toStartWith('Bearer realm="Plaza", error="invalid_token", error_description="');
    expect(renderError(tokenMissing("access_token"), "flat", "strict", "T")).toMatchObject({ status: 403, headers: {}, body: { code: 190 } });
    expect(renderError(tokenExpired("access_token"), "wrapped", "strict", "T").body).toMatchObject({ error: { code: 190, error_subcode: 463 } });
  });

  test("the challenge holds nothing that ends its text", () => {
    const odd = new GraphError("tokenInvalid", 'a"b\\c\r\nd\u00e9~');
    expect(renderError(odd, "wrapped", "strict", "T").headers["www-authenticate"]).toEndWith('error_description="a b c  d ~"');
  });

  test("says that it passes, what a person should read, and which headers belong to it", () => {
    const limited = renderError(appRateLimited(7), "wrapped", "strict", "T");
    expect(limited).toMatchObject({ status: 429, headers: { "retry-after": "7" }, body: { error: { is_transient: true } } });
    const explained = new GraphError("invalidParameter", "m", { userTitle: "Title", userMessage: "Message" });
    expect(renderError(explained, "wrapped", "strict", "T").body).toMatchObject({ error: { error_user_title: "Title", error_user_msg: "Message" } });
  });
});
