import { commonErrors } from "#graph/contract/common-errors";
import type { Registry } from "#graph/contract/registry";
import { code, codes, page, table } from "./markdown.ts";

export function errorsPage({ errors }: Registry): string {
  const rows = [...errors].map(([name, entry]) => [
    code(name),
    withFlat(entry.status, entry.flatStatus),
    withFlat(entry.code, entry.flatCode),
    entry.subcode === undefined ? "" : String(entry.subcode),
    entry.type,
    entry.isTransient === true ? "yes" : "",
    entry.when,
  ]);
  return page("Errors", "`src/kernel/errors.ts` and the features' `x.errors.ts`", [
    "Page messaging answers a flat object, everything else the same fields below `error` (D-20). Every error has `message`, `type`, `code` and " +
      "`pftrace_id`, which is also the header `x-pf-trace-id`; `error_subcode`, `is_transient`, `error_data`, `error_user_title` and " +
      "`error_user_msg` where they apply. Where the flat form differs, its value stands behind the slash.",
    table(["name", "status", "code", "subcode", "type", "try again", "when"], rows),
    `Every call may meet ${codes(commonErrors)}; the others stand at the operations that may answer them, in [operations.md](operations.md).`,
  ]);
}

const withFlat = (wrapped: number, flat: number | undefined): string => (flat === undefined ? String(wrapped) : `${wrapped} / ${flat}`);
