/**
 * Checks whether the plan of a prepared statement depends on the time at which it was made. A plan lives as long as its connection, and PostgreSQL
 * may have made the plan while the table was empty.
 */
import type { Client } from "pg";
import { migrationsOf } from "#graph/worlds/open-world";
import { buildRegistry } from "#main";
import { openPostgres } from "#storage/postgres/open";
import { Server } from "#storage/postgres/server";

/** The number of rows in each table, which is large enough that a wrong plan is clearly slower. */
const ROWS = 20_000;
/** The number of rows that share the first column of an index of several columns, as the rows of one app or page do. */
const ROWS_PER_OWNER = 100;

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Filter?: string;
  readonly "Join Filter"?: string;
  readonly Plans?: readonly Plan[];
}

/** The columns of each index, in their order. */
type Indexes = ReadonlyMap<string, readonly string[]>;

/** The problems of the query plans as texts, each with its statement. `url` is the address of an empty database; `statements` have `$1`, `$2`, … */
export async function planProblems(url: string, statements: readonly string[]): Promise<string[]> {
  const schema = "plaza_plans";
  await (await openPostgres({ url, schema, migrations: migrationsOf(buildRegistry()) })).close();
  const client = await new Server(url, schema).connect();
  try {
    await client.query("SET default_transaction_read_only = off; SET plan_cache_mode = force_generic_plan");
    const indexes = await indexesOf(client, schema);
    const fresh = await problemsOf(client, indexes, statements, "on new tables");
    await fill(client, schema);
    return [...fresh, ...(await problemsOf(client, indexes, statements, `on ${ROWS} analysed rows`))];
  } finally {
    await client.end();
  }
}

const asText = { getTypeParser: () => String };

async function problemsOf(client: Client, indexes: Indexes, statements: readonly string[], when: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [at, text] of statements.entries()) {
    const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
    const values = count === 0 ? "" : `(${new Array(count).fill("NULL").join(", ")})`;
    await client.query(`PREPARE p${at} AS ${text}`);
    const { rows } = await client.query<{ "QUERY PLAN": string }>({ text: `EXPLAIN (FORMAT JSON) EXECUTE p${at}${values}`, types: asText });
    await client.query(`DEALLOCATE p${at}`);
    const [explained] = JSON.parse(rows[0]?.["QUERY PLAN"] ?? "[]") as { Plan: Plan }[];
    if (explained === undefined) throw new Error(`no plan for ${text}`);
    for (const problem of problemsOfPlan(explained.Plan, indexes)) problems.push(`${problem} ${when}: ${text.replace(/\s+/g, " ").trim()}`);
  }
  return problems;
}

function problemsOfPlan(plan: Plan, indexes: Indexes): string[] {
  const problems = (plan.Plans ?? []).flatMap((inner) => problemsOfPlan(inner, indexes));
  const { "Node Type": node, "Relation Name": table, "Index Name": index, "Index Cond": condition, Filter: filter } = plan;
  if (node === "Seq Scan" && table !== undefined) problems.push(`reads all of ${table}`);
  if (index !== undefined && condition === undefined && filter !== undefined) problems.push(`reads all of the index ${index}`);
  if (index !== undefined && filter !== undefined) {
    const compares = (column: string, text: string) => new RegExp(`\\b${column}"? (=|[<>]=?) `).test(text);
    const unused = (indexes.get(index) ?? []).filter((column) => compares(column, filter) && !compares(column, condition ?? ""));
    for (const column of unused) problems.push(`looks at ${column} row by row, which ${index} has`);
  }
  const joined = plan["Join Filter"];
  if (joined !== undefined) problems.push(`joins row by row on ${joined}`);
  if (node === "Limit" && plan.Plans?.some((inner) => inner["Node Type"] === "Sort")) problems.push("sorts all rows for the first ones");
  return problems;
}

async function indexesOf(client: Client, schema: string): Promise<Indexes> {
  const { rows } = await client.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name, CAST((SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, n)
       JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum) AS TEXT) AS columns
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace s ON s.oid = c.relnamespace WHERE s.nspname = $1`,
    [schema],
  );
  return new Map(rows.map(({ name, columns }) => [name, columns.split(",")]));
}

/** Fills the tables with numbers. The first column of an index of several columns has few values, unless that column alone is unique. */
async function fill(client: Client, schema: string): Promise<void> {
  const { rows: columns } = await client.query<{ table: string; column: string; type: string; leads: number; is_key: number }>(
    `SELECT CAST(c.table_name AS TEXT) AS table, CAST(c.column_name AS TEXT) AS column, CAST(c.data_type AS TEXT) AS type,
       EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
         WHERE i.indrelid = format('%I.%I', c.table_schema, c.table_name)::regclass AND a.attname = c.column_name AND i.indnatts > 1) AS leads,
       EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
         WHERE i.indrelid = format('%I.%I', c.table_schema, c.table_name)::regclass AND a.attname = c.column_name AND i.indnatts = 1
           AND i.indisunique) AS is_key
     FROM information_schema.columns c WHERE c.table_schema = $1 ORDER BY c.table_name, c.ordinal_position`,
    [schema],
  );
  for (const [table, ofTable] of Map.groupBy(columns, (column) => column.table)) {
    const values = ofTable.map(({ type, leads, is_key }) => {
      const value = leads === 1 && is_key === 0 ? `(n / ${ROWS_PER_OWNER})` : "n";
      return type === "text" ? `CAST(${value} AS TEXT)` : type === "bytea" ? "'\\x00'::bytea" : value;
    });
    await client.query(
      `INSERT INTO "${table}" (${ofTable.map(({ column }) => `"${column}"`).join(", ")})
       SELECT ${values.join(", ")} FROM generate_series(1, ${ROWS}) AS n ON CONFLICT DO NOTHING`,
    );
  }
  await client.query("ANALYZE");
}
