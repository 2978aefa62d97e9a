import { useQuery } from "@tanstack/react-query";
import { errorsQuery } from "../../api/queries.ts";
import { Block, Facts } from "../../parts/texts.tsx";
import { entriesOf, errorIn } from "./error-body.ts";
import type { StoriedRequest } from "./request-detail.tsx";

/** The error of a response, with its explanation from the catalogue of errors. */
export function ErrorExplained({ request: { status, response_body, story } }: { readonly request: StoriedRequest }) {
  const catalogue = useQuery(errorsQuery).data?.data;
  const said = errorIn(response_body);
  const entries = entriesOf(catalogue, { status, said, story });
  return (
    <Block title="Refused">
      {said?.error_user_msg !== undefined && <p className="bad">✕ {said.message}</p>}
      <Facts
        facts={[
          ["Parameter", said?.error_data?.parameter],
          ["Code", said?.code === undefined ? undefined : [said.code, said.error_subcode].filter((part) => part !== undefined).join(" / ")],
          ["In the catalogue", entries.length === 0 ? undefined : entries.map(({ name }) => name).join(" or ")],
          ["It happens when", entries.length === 0 ? undefined : entries.map(({ when }) => when.replaceAll("`", "")).join("; or ")],
          [
            "Retry",
            entries.length === 0
              ? undefined
              : entries.some(({ is_transient }) => is_transient)
                ? "the same request may succeed later"
                : "the same request fails again",
          ],
        ]}
      />
    </Block>
  );
}
