import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { mintCopy } from "../../api/graph/identities.ts";
import { type Sendable, type Sent, send } from "../../api/graph/request-anew.ts";
import { type Language, snippets } from "../../api/graph/snippets.ts";
import { tokensQuery, useServer } from "../../api/queries.ts";
import { Identity } from "../../parts/identity.tsx";
import { pretty } from "../../parts/json.ts";
import { sayProblem } from "../../parts/notices.tsx";
import { Block, Code, CopyButton, HttpStatus } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { useWorld } from "../../shell/world.ts";
import { generalParameters, type Operation, requestOf } from "./operations.ts";
import { ParameterField } from "./parameter-field.tsx";

const route = getRouteApi("/explorer");

/** The placeholder for the token in the code that is shown. Copied code contains a copy of the chosen token. */
const TOKEN = "TOKEN";

export function OperationForm({ operation }: { readonly operation: Operation }) {
  const w = useWorld();
  const server = useServer(w);
  const now = useWorldNow(w)?.now ?? 0;
  const { id: givenId = "", as: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (as: string): void => void navigate({ search: (before) => ({ ...before, as }), replace: true });
  const known = useQuery(tokensQuery(w)).data?.data;
  const tokens = (known ?? []).filter(({ revoked_at }) => revoked_at === 0);
  const [version, setVersion] = useState(operation.versions.at(-1) ?? "");
  const [id, setId] = useState(givenId);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [sent, setSent] = useState<Sent>();
  const identity = tokens.find((token) => token.id === chosen) ?? fittingToken(tokens, operation);
  const own = identity === undefined ? undefined : principalOf(identity, operation.node_type);
  const hasId = operation.path.includes("{id}");
  const requestWith = (token: string): Sendable => {
    if (server === undefined) throw new Error("the server's addresses are not known yet");
    return requestOf(operation, { id: id === "" ? (own ?? "me") : id, version, values }, server, token);
  };
  const withToken = async (): Promise<Sendable> => {
    if (identity === undefined) throw new Error("the world has no valid token");
    return requestWith(await mintCopy(w, identity.id));
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      setSent(await send(await withToken()));
    } catch (error) {
      sayProblem(error);
    }
  };
  return (
    <>
      <form className="form" onSubmit={(event) => void submit(event)}>
        <p>{operation.is_discouraged ? `Discouraged: ${operation.summary}` : operation.summary}</p>
        <p className="quiet">
          Policy: {operation.policy}
          {operation.scopes.length > 0 && `, with ${operation.scopes.join(", ")}`}.
        </p>
        <div className="field">
          <span>Token</span>
          <Identity label="Token" tokens={tokens} now={now} chosen={identity?.id} onChoose={choose} />
        </div>
        <VersionField versions={operation.versions} chosen={version} onChoose={setVersion} />
        {hasId && (
          <label className="field">
            Id of the {operation.node_type}
            <input value={id} placeholder={own ?? "me"} onChange={({ target }) => setId(target.value)} />
          </label>
        )}
        {[...operation.parameters, ...generalParameters(operation)].map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            value={values[parameter.name] ?? ""}
            onChange={(value) => setValues((before) => ({ ...before, [parameter.name]: value }))}
          />
        ))}
        <button type="submit" className="primary" disabled={known === undefined || server === undefined}>
          Send
        </button>
      </form>
      {sent !== undefined && <Result sent={sent} />}
      <AsCode requestWith={requestWith} withToken={withToken} />
    </>
  );
}

interface VersionFieldProps {
  readonly versions: readonly string[];
  readonly chosen: string;
  readonly onChoose: (version: string) => void;
}

function VersionField({ versions, chosen, onChoose }: VersionFieldProps) {
  if (versions.length === 0) return null;
  return (
    <label className="field">
      Version
      <select value={chosen} onChange={({ target }) => onChoose(target.value)}>
        {versions.toReversed().map((one) => (
          <option key={one}>{one}</option>
        ))}
        <option value="">none: the app's default</option>
      </select>
    </label>
  );
}

interface AsCodeProps {
  readonly requestWith: (token: string) => Sendable;
  readonly withToken: () => Promise<Sendable>;
}

function AsCode({ requestWith, withToken }: AsCodeProps) {
  const [language, setLanguage] = useState<Language>("curl");
  return (
    <Block title="Code">
      <div className="actions">
        {(Object.keys(snippets) as Language[]).map((name) => (
          <button type="button" key={name} aria-pressed={language === name} onClick={() => setLanguage(name)}>
            {name}
          </button>
        ))}
        <CopyButton label="Copy with a token" text={async () => snippets[language](await withToken())} />
      </div>
      <Code label={`The request in ${language}`} text={shownCode(() => snippets[language](requestWith(TOKEN)))} />
    </Block>
  );
}

interface Token {
  readonly type: string;
  readonly app: string;
  readonly page?: string | undefined;
  readonly user?: string | undefined;
  readonly social_account?: string | undefined;
  readonly microblog_user?: string | undefined;
}

/** The id of the token's node, if that node has the given type. */
const principalOf = ({ app, page, user, social_account, microblog_user }: Token, nodeType = ""): string | undefined =>
  ({ app, page, user, social_account, microblog_user })[nodeType];

/** A token that may use the operation. Prefers a token of a node of the type that the operation is for. */
function fittingToken<T extends Token>(tokens: readonly T[], { kinds, node_type }: Operation): T | undefined {
  const able = tokens.filter(({ type }) => kinds.includes(type));
  return able.find((token) => token.type !== "app" && principalOf(token, node_type) !== undefined) ?? able[0] ?? tokens[0];
}

function shownCode(code: () => string): string {
  try {
    return code();
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

function Result({ sent: { status, trace, body, headers } }: { readonly sent: Sent }) {
  return (
    <Block title="Response">
      <p>
        <HttpStatus status={status} />{" "}
        {trace !== undefined && (
          <Link to="/requests" search={({ world }) => ({ world, request: trace })}>
            Request details
          </Link>
        )}
      </p>
      <Code label="Body of the response" text={pretty(body)} />
      <details>
        <summary>Headers</summary>
        <Code label="Headers of the response" text={headers.map(([name, value]) => `${name}: ${value}`).join("\n")} />
      </details>
    </Block>
  );
}
