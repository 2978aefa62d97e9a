import { useQueryClient } from "@tanstack/react-query";
import { forgetCopies } from "../../api/graph/identities.ts";
import { act } from "../../parts/notices.tsx";

/** Runs an action that changes a world, and then reads all data of the world again. */
export function useChange() {
  const client = useQueryClient();
  return (done: string, action: () => Promise<unknown>) =>
    act(done, async () => {
      await action();
      forgetCopies();
      await client.invalidateQueries();
    });
}
