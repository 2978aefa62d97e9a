/** Small worlds for tests of features: one app, two pages, a person with the task and a person without it. */
export const cafe = {
  apps: [
    { id: "1001", name: "Shop", secret: "s3cret", created_time: 1780000000 },
    { id: "1002", name: "Other", secret: "0ther", created_time: 1730000000 },
  ],
  users: [
    { id: "3001", name: "Ada" },
    { id: "3002", name: "Bob" },
    { id: "3003", name: "Cleo" },
  ],
  pages: [
    {
      id: "2001",
      name: "Cafe",
      people: [{ psid: "9001", name: "Guest" }, { psid: "9002" }],
      roles: [
        { user: "3001", tasks: ["MESSAGING", "CREATE_CONTENT", "MANAGE"] },
        { user: "3002", tasks: ["ANALYZE"] },
      ],
    },
    { id: "2002", name: "Bar", people: [{ psid: "9101" }], roles: [] },
  ],
  labels: [{ id: "5001", page: "2001", name: "vip", users: ["9001"] }],
  personas: [{ id: "5101", page: "2001", name: "Bo", profile_picture_url: "https://example.com/bo.png" }],
  tokens: [
    { token: "page", type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"] },
    { token: "bar", type: "page", app: "1001", page: "2002", user: "3003", scopes: ["pages_messaging"] },
    { token: "other-app", type: "page", app: "1002", page: "2001", user: "3001", scopes: ["pages_messaging"] },
    { token: "no-scope", type: "page", app: "1001", page: "2001", user: "3001", scopes: [] },
    { token: "expired", type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"], expires_at: 1790000000 },
    { token: "ada", type: "user", app: "1001", user: "3001", scopes: ["pages_messaging"] },
    { token: "bob", type: "user", app: "1001", user: "3002", scopes: ["pages_messaging"] },
    { token: "cleo", type: "user", app: "1001", user: "3003", scopes: ["pages_messaging"] },
    { token: "app", type: "app", app: "1001" },
  ],
};
