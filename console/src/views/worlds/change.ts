import { useQueryClient } from "@tanstack/react-query";
import { forgetCopies } from "../../api/graph/identities.ts";
import { act } from "../../parts/notices.tsx";

/** All data that was read from a world may be out of date. */
export function useChange() {
  const client = useQueryClient();
  return (done: string, action: () => Promise<unknown>) =>
    act(done, async () => {
      await action();
      forgetCopies();
      await client.invalidateQueries();
    });
}
