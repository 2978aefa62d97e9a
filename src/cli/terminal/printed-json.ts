/**
 * The schemas of the JSON that commands print with `--json` if that JSON is not simply the response of one route. The page
 * `docs/reference/commands.md` is generated from these schemas, and the tests of the commands check the output against the schemas.
 */

import { Type } from "typebox";
import { alert } from "#control/routes/alerts/alerts";
import { serverFacts } from "#control/routes/server";
import { unserved } from "#control/routes/unserved";
import { worldInList } from "#control/routes/worlds/worlds";

const text = (description: string) => Type.String({ description });
const status = Type.Object({
  ...serverFacts.properties,
  ready: Type.Boolean({ description: "whether the server can use its database" }),
  control_url: text("the address of the control API"),
  worlds: Type.Array(worldInList, { description: "empty if the server is not ready" }),
  callbacks: Type.Array(Type.Object({ url: Type.String(), status: Type.String() }), { description: "the callbacks that do not work" }),
  alerts: Type.Array(alert),
  unserved: Type.Array(unserved, { description: "the edges, fields and versions that programs requested and that Plaza does not have" }),
});

const start = Type.Object({
  ready: Type.Literal(true),
  pid: Type.Integer(),
  base_url: text("the address of the graph"),
  app_base_url: Type.String(),
  microblog_base_url: Type.String(),
  ads_base_url: Type.String(),
  social_login_host: Type.String(),
  control_url: text("the address of the control API"),
  control_key: Type.Optional(text("the key of the control API; only of a sandbox")),
  rtmp_url: Type.Union([Type.String(), Type.Null()], { description: "the address for encoders; null if encoders cannot connect" }),
  variables_file: Type.Optional(text("with --as: the file with the variables for programs whose requests are intercepted")),
});

const stop = Type.Object({ pid: Type.Union([Type.Integer(), Type.Null()], { description: "the ended process; null if no server ran" }) });

const doctor = Type.Object(
  {
    health: Type.Unsafe<"ok" | "warning" | "problem">({ enum: ["ok", "warning", "problem"] }),
    text: text("the finding, and how to solve it"),
  },
  { description: "one object a line, one for each finding" },
);

const migrate = Type.Object({
  worlds: Type.Array(Type.Object({ world: Type.String(), migrations: Type.Array(Type.String()) }), {
    description: "the migrations that were to run",
  }),
  run: Type.Integer({ description: "the number of migrations that were run; 0 with --dry-run" }),
});

const backup = Type.Object({ from: text("the data folder"), to: text("the folder of the copy") });

const play = Type.Object({
  player: text("the address of the player"),
  embeddable: Type.Boolean({ description: "whether the player opens for everybody" }),
});

const compare = Type.Object({
  requests: Type.Integer({ description: "the number of requests that both servers got" }),
  differences: Type.Array(
    Type.Object({
      operation: Type.String(),
      request: text("method, path and query, without secrets"),
      path: text("the path of the value that differs, e.g. body.data.0.name"),
      first: Type.String(),
      second: Type.String(),
    }),
  ),
  other_statuses: Type.Optional(
    Type.Array(Type.Object({ request: Type.String(), recorded: Type.Integer(), first: Type.Integer(), second: Type.Integer() }), {
      description: "with --recording: requests whose response had another status than in the recording",
    }),
  ),
});

const ids = Type.Array(Type.String());

const conform = Type.Object({
  passed: Type.Integer(),
  failed: Type.Integer(),
  skipped: Type.Integer(),
  covered: Type.Integer({ description: "the number of clauses that a passing case shows" }),
  total: Type.Integer({ description: "the number of all clauses" }),
  broken: Type.Array(Type.String(), { description: "the clauses that a failing case shows" }),
  uncovered: Type.Array(Type.String(), { description: "the clauses without a passing case" }),
  results: Type.Array(
    Type.Object({
      title: Type.String(),
      area: Type.String(),
      file: Type.String(),
      clauses: ids,
      decisions: ids,
      profile: Type.Unsafe<string>({ enum: ["strict", "clients"] }),
      outcome: Type.Unsafe<string>({ enum: ["passed", "failed", "skipped"] }),
      duration_ms: Type.Integer(),
      failure: Type.Optional(
        Type.Object({
          step: Type.Integer({ description: "the step of the case that failed" }),
          sent: text("the request as a command for a shell"),
          problems: Type.Array(Type.Object({ where: Type.String(), expected: Type.String(), got: Type.String() })),
          response: Type.String(),
        }),
      ),
      reason: Type.Optional(text("the reason why the case was skipped")),
    }),
  ),
});

/** The schemas by command, without `plaza` in front. */
export const printedJson = { start, status, stop, doctor, migrate, backup, "live play": play, compare, conform };
