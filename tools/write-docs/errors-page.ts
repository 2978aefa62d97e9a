import type { Registry } from "#graph/contract/registry";
import { commonErrors } from "#graph/contract/response-schemas";
import { withoutCitations } from "#kernel/text";
import { code, codes, page, table } from "./markdown.ts";

export function errorsPage({ errors }: Registry): string {
  const rows = [...errors].map(([name, entry]) => [
    code(name),
    withFlat(entry.status, entry.flatStatus),
    withFlat(entry.code, entry.flatCode),
    entry.subcode === undefined ? "" : String(entry.subcode),
    entry.type,
    entry.isTransient === true ? "yes" : "",
    withoutCitations(entry.when),
    entry.mend,
  ]);
  return page("Errors", "`src/kernel/errors.ts` and the features' `x.errors.ts`", [
    "[The interface](../interface/errors.md) explains what to do about an error. Page messaging returns errors as a flat object, every other " +
      "endpoint returns the same fields below `error`. If the flat form has another status or code, that value is behind the slash. Every error has " +
      "`message`, `type`, `code`, `is_transient` and `pftrace_id`, which is also the header `x-pf-trace-id`. Some have `error_subcode`, `error_data`, " +
      "`error_user_title` and `error_user_msg`.",
    table(["name", "status", "code", "subcode", "type", "retry", "cause", "what to do"], rows),
    `Any request can return ${codes(commonErrors)}. [operations.md](operations.md) says which operations can return each of the other errors.`,
  ]);
}

const withFlat = (wrapped: number, flat: number | undefined): string => (flat === undefined ? String(wrapped) : `${wrapped} / ${flat}`);
