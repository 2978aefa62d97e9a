/** A test suite that uses the test kit and a world of its own: it needs pages_messaging and the task MESSAGING, and is granted more. */
import { withPlaza } from "#testing/index";

const plaza = await withPlaza({
  test: "a label is created",
  world: {
    profile: "clients",
    apps: [{ id: "1001", name: "Shop", secret: "s3cret" }],
    users: [{ id: "3001", name: "Ada" }],
    pages: [{ id: "2001", name: "Cafe", roles: [{ user: "3001", tasks: ["MESSAGING", "CREATE_CONTENT"] }] }],
    tokens: [{ token: "user-token", type: "user", app: "1001", user: "3001", scopes: ["pages_messaging", "pages_manage_posts"] }],
  },
});
const body = new URLSearchParams({ page_label_name: "vip", access_token: "user-token" });
const response = await fetch(`${plaza.baseUrl}/v26.0/2001/custom_labels`, { method: "POST", body });
await plaza.close();
process.exit(response.ok ? 0 : 1);
