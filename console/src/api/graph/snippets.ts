/** Writes a request as code that a person can paste. */
import type { Sendable } from "./request-anew.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curlOf({ method, url, headers, body }: Sendable): string {
  const parts = [
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
    quoted(url),
  ];
  return `curl ${parts.join(" \\\n  ")}`;
}

function typescriptOf({ method, url, headers, body }: Sendable): string {
  const options = {
    ...(method === "GET" ? {} : { method }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  };
  const given = Object.keys(options).length === 0 ? "" : `, ${JSON.stringify(options, undefined, 2)}`;
  return `const response = await fetch(${JSON.stringify(url)}${given});\nconsole.log(response.status, await response.json());`;
}

/** JSON strings, and JSON objects whose values are strings, are also valid Python. */
function pythonOf({ method, url, headers, body }: Sendable): string {
  const lines = [
    "import requests",
    "",
    "response = requests.request(",
    `    ${JSON.stringify(method)},`,
    `    ${JSON.stringify(url)},`,
    ...(Object.keys(headers).length === 0 ? [] : [`    headers=${JSON.stringify(headers)},`]),
    ...(body === undefined ? [] : [`    data=${JSON.stringify(body)}.encode(),`]),
    ")",
    "print(response.status_code, response.json())",
  ];
  return lines.join("\n");
}

export const snippets = { curl: curlOf, TypeScript: typescriptOf, Python: pythonOf } as const;
export type Language = keyof typeof snippets;
