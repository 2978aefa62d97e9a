import type { Static } from "typebox";
import type { Token } from "#auth/token";
import type { OperationRequest } from "#graph/contract/operation";
import { unixSeconds } from "#kernel/clock";
import { invalidParameter } from "#kernel/errors";
import type { inspectToken } from "./token-inspection.contract.ts";

type Inspection = Static<typeof inspectToken.returns>;

export async function handleInspectToken(request: OperationRequest<Static<typeof inspectToken.params>>): Promise<Inspection> {
  const { caller, params, world } = request;
  const token = await world.tokens.find(params.input_token);
  // D-55: an unknown token is a 200 response, not an error.
  if (token === undefined) return { data: { is_valid: false, scopes: [] } };
  // F3-14.
  if (token.app !== caller.app.id) throw invalidParameter("input_token", "belongs to another app than access_token");
  const now = unixSeconds(world.clock);
  const isValid = token.revoked_at === 0 && (token.expires_at === 0 || token.expires_at > now);
  const userId = personOf(token);
  return {
    data: {
      type: typeNames[token.type],
      application: caller.app.name,
      data_access_expires_at: token.data_access_expires_at,
      expires_at: token.expires_at,
      is_valid: isValid,
      issued_at: token.issued_at,
      scopes: [...token.scopes],
      ...(userId === undefined ? {} : { user_id: userId }),
    },
  };
}

/** F3-2: APP or USER; other types have their own names. */
const typeNames: Readonly<Record<Token["type"], string>> = {
  app: "APP",
  user: "USER",
  microblog_user: "USER",
  social_user: "USER",
  page: "PAGE",
  system_user: "SYSTEM_USER",
};

const personOf = (token: Token): string | undefined => token.user ?? token.microblog_user ?? token.social_account;
