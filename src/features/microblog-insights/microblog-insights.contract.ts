import { type TSchema, Type } from "typebox";
import { definePolicy } from "#auth/policy";
import { microblogAccount } from "#features/microblog-accounts/api";
import { type Access, readOperation } from "#graph/contract/operation";
import { ONLY_IN } from "#graph/schema/schema-node";
import { type Breakdown, breakdowns, type MediaMetric, mediaMetrics, type UserMetric, userMetrics } from "./microblog-insights.metrics.ts";

/** AUTH-15, D-13: the policy of insights (F1 and F2). */
export const microblogInsightsPolicy = definePolicy({
  ...microblogAccount,
  name: "microblogInsights",
  scopes: ["microblog_basic", "microblog_manage_insights"],
});

const access = {
  surfaces: ["microblog"],
  versions: "unversioned",
  scheme: "query",
  policy: microblogInsightsPolicy,
  errorForm: "wrapped",
  errors: [],
} as const satisfies Partial<Access>;

const oneOf = <T extends string>(values: readonly T[]) => Type.Unsafe<T>(Type.Union(values.map((value) => Type.Literal(value))));
const listOf = <T extends string>(values: readonly T[]) => Type.Array(oneOf(values), { minItems: 1, description: "the metrics to read" });

const insight = (shape: Record<string, TSchema>) =>
  Type.Object({ name: Type.String(), period: Type.String(), ...shape, title: Type.String(), description: Type.String(), id: Type.String() });

const count = Type.Integer();

export const readMediaInsights = readOperation({
  ...access,
  operation: "readMediaInsights",
  summary: "Reads the metrics of a media object over its lifetime.",
  clauses: ["F1-1", "F1-2", "F1-3", "F1-4", "F1-5", "F1-6", "F1-7", "AUTH-15", "GEN-5", "VER-1d"],
  decisions: ["D-54", "D-120"],
  on: "microblog_media",
  edge: "insights",
  params: Type.Object({ metric: listOf<MediaMetric>(mediaMetrics) }),
  returns: Type.Object({ data: Type.Array(insight({ values: Type.Array(Type.Object({ value: count })) })) }),
});

/** D-54 [clients]: insights begin at 2024-04-13T07:00:00Z; an earlier time is refused. */
const EARLIEST_SECONDS = 1_712_991_600;

const moment = (description: string) =>
  Type.Optional(
    Type.Unsafe<number>({
      anyOf: [
        { type: "integer", minimum: 0, [ONLY_IN]: "strict" },
        { type: "integer", minimum: EARLIEST_SECONDS, [ONLY_IN]: "clients" },
      ],
      description,
    }),
  );

export const readUserInsights = readOperation({
  ...access,
  operation: "readUserInsights",
  summary: "Reads the metrics of a user in a range of time, by default yesterday and today.",
  clauses: ["F2-1", "F2-2", "F2-3", "F2-4", "F2-5", "F2-6", "F2-7", "F2-8", "LIM-7"],
  decisions: ["D-54", "D-120"],
  on: "microblog_user",
  edge: "microblog_insights",
  params: Type.Object({
    metric: listOf<UserMetric>(userMetrics),
    since: moment("Unix seconds: the beginning of the range, before `until`"),
    until: moment("Unix seconds: the end of the range, which does not include this second"),
    breakdown: Type.Optional(
      Type.Unsafe<Breakdown>({
        ...oneOf<Breakdown>(breakdowns),
        description: "the attribute by which `follower_demographics` is divided (default: each attribute in turn)",
      }),
    ),
  }),
  returns: Type.Object({
    data: Type.Array(
      Type.Union([
        insight({ values: Type.Array(Type.Object({ value: count, end_time: Type.String() })) }),
        insight({ total_value: Type.Object({ value: count }) }),
        insight({ link_total_values: Type.Array(Type.Object({ value: count, link_url: Type.String() })) }),
        insight({
          total_value: Type.Object({
            breakdowns: Type.Array(
              Type.Object({
                dimension_keys: Type.Array(Type.String()),
                results: Type.Array(Type.Object({ dimension_values: Type.Array(Type.String()), value: count })),
              }),
            ),
          }),
        }),
      ]),
    ),
  }),
});
