import type { Static } from "typebox";
import type { Token } from "#auth/token";
import type { OperationRequest } from "#graph/contract/operation";
import type { Caller } from "#graph/pipeline/request";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { GraphError, invalidParameter, taskMissing } from "#kernel/errors";
import type { Reader } from "#storage/database";
import type { inspectToken } from "./token-inspection.contract.ts";

type Inspection = Static<typeof inspectToken.returns>;

export async function handleInspectToken(request: OperationRequest<Static<typeof inspectToken.params>>, reader: Reader): Promise<Inspection> {
  const { caller, params, world } = request;
  const token = await world.tokens.find(params.input_token);
  const isOwn = token?.user !== undefined && token.user === caller.token.user;
  if (caller.token.user !== undefined && !isOwn && !(await isAdministrator(caller, world, reader)))
    throw taskMissing("the role administrator on the app, or a token of the same user");
  const live = world.tokens.alive(token, "input_token", unixSeconds(world.clock));
  // D-55 [clients]: the reason why a token is invalid is in the same object as `is_valid`, because client libraries read it there.
  const error = live instanceof GraphError && world.profile === "clients" ? errorOf(live) : undefined;
  // D-55: the response for an unknown token is 200 with `is_valid: false`, not an error.
  if (token === undefined) return { data: { is_valid: false, scopes: [], ...error } };
  // F3-14: a token of another app is refused.
  if (token.app !== caller.app.id) throw invalidParameter("input_token", "belongs to another app than access_token");
  const userId = personOf(token);
  return {
    data: {
      type: typeNames[token.type],
      application: caller.app.name,
      data_access_expires_at: token.data_access_expires_at,
      expires_at: token.expires_at,
      is_valid: !(live instanceof GraphError),
      issued_at: token.issued_at,
      scopes: [...token.scopes],
      ...(userId === undefined ? {} : { user_id: userId }),
      ...error,
    },
  };
}

async function isAdministrator({ token, app }: Caller, { ports }: World, reader: Reader): Promise<boolean> {
  return token.user !== undefined && (await ports.get("app").rolesOf(reader, app.id, token.user)).includes("administrator");
}

const errorOf = ({ entry: { code, subcode }, message }: GraphError): Pick<Inspection["data"], "error"> => ({
  error: { code, message, ...(subcode === undefined ? {} : { subcode }) },
});

/** F3-2: the names of token types in the response. The interface document has only the names APP and USER; Plaza chose the other names. */
const typeNames: Readonly<Record<Token["type"], string>> = {
  app: "APP",
  user: "USER",
  microblog_user: "USER",
  social_user: "USER",
  page: "PAGE",
  system_user: "SYSTEM_USER",
};

const personOf = (token: Token): string | undefined => token.user ?? token.microblog_user ?? token.social_account;
