/** The floor of the bench `webhooks`: sends the same POSTs as Plaza in a simple loop, and stores nothing. */
import { postOf, serveRounds } from "./webhook-posts.ts";

const [sink = ""] = Bun.argv.slice(2);
serveRounds((id) => postOf(sink, id).send());
