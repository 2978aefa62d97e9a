import { propertiesOf, type Schema, schemaText } from "#control/llms/schema-text";
import { controlRoutes } from "#control/routes";
import type { ControlRoute } from "#control-contract/route";
import { buildRegistry } from "#main";
import { code, page, table } from "./markdown.ts";

export function controlApiPage(): string {
  return page("Control API", "`src/control`", [
    "[Control API](../operating/control-api.md) has examples. The control API listens on its own port, speaks JSON, and needs the control key as a " +
      "bearer token. `{w}` is the name of a world; the first is `default`. `{key}` is a key of a [world file](world-files.md). `/v1/openapi.json` " +
      "describes the same as OpenAPI 3.1. `/healthz`, `/readyz` and `/metrics` need no key.",
    table(["request", "takes", "returns", "does"], controlRoutes(buildRegistry()).map(row)),
    "Errors are `{error: {code, message, parameter?}}`. Any request can return 401, 403, 500 and 503; the OpenAPI document says which of 400, 404, 409, 413 and 422 a request can return. 405 names the methods of an address in `Allow`.",
  ]);
}

const row = (route: ControlRoute): string[] => [code(`${route.method} ${route.path}`), takes(route), responses(route), route.summary];

const bodies: Readonly<Record<string, string>> = { text: "a world file", entry: "an entry", file: "a file", form: "a form" };

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
  const shape = typeof body === "string" ? (bodies[body] ?? body) : code(schemaText(body as Schema));
  return [...named, shape].join("; ");
}

function responses({ response }: ControlRoute): string {
  if (response === "entry") return "the entry";
  if (response === "entries") return "a page of entries";
  if (response === "file") return "a world file";
  return code(schemaText(response as Schema));
}
