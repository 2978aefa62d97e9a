/** Floor of `webhooks`: the same POSTs in a bare loop; nothing is stored. */
import { postOf, serveRounds } from "./webhook-posts.ts";

const [sink = ""] = Bun.argv.slice(2);
serveRounds((id) => postOf(sink, id).send());
