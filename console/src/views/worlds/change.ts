import { useQueryClient } from "@tanstack/react-query";
import { forgetCopies } from "../../api/graph/identities.ts";
import { act } from "../../parts/notices.tsx";

/** Everything that was read of a world may be another now. */
export function useChange() {
  const client = useQueryClient();
  return (done: string, action: () => Promise<unknown>) =>
    act(done, async () => {
      await action();
      forgetCopies();
      await client.invalidateQueries();
    });
}
