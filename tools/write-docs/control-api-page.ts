import { controlRoutes } from "#control/routes";
import type { ControlRoute } from "#control-contract/route";
import { buildRegistry } from "#main";
import { code, page, table } from "./markdown.ts";
import { propertiesOf, type Schema, schemaText } from "./schema-text.ts";

export function controlApiPage(): string {
  return page("Control API", "`src/control`", [
    "On its own port, JSON, with `Authorization: Bearer` and the control key. `{w}` is a world's name, `default` for the first; `{key}` a key of a " +
      "world file ([world-files.md](world-files.md)). Beside it and without a key: `/healthz`, `/readyz`, `/metrics`. The same as OpenAPI 3.1 is at " +
      "`/v1/openapi.json`.",
    table(["call", "takes", "answers", "does"], controlRoutes(buildRegistry()).map(row)),
    "Errors are `{error: {code, message, parameter?}}`: 400 and 401 anywhere, 404, 409, 413 and 422 where they can happen.",
  ]);
}

const row = (route: ControlRoute): string[] => [code(`${route.method} ${route.path}`), takes(route), responses(route), route.summary];

function takes({ query, body }: ControlRoute): string {
  const named =
    query === undefined
      ? []
      : [
          `query ${code(
            propertiesOf(query as Schema)
              .map(({ name }) => name)
              .join(", "),
          )}`,
        ];
  if (body === undefined) return named.join("; ");
  const shape = body === "text" ? "a world file" : body === "entry" ? "an entry" : code(schemaText(body as Schema));
  return [...named, shape].join("; ");
}

function responses({ response }: ControlRoute): string {
  if (response === "entry") return "the entry";
  if (response === "entries") return "a page of entries";
  return code(schemaText(response as Schema));
}
