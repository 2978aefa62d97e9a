/** A test suite that creates a token for itself with the control API: the review removes permissions from such tokens, too. */
const { PLAZA_BASE_URL, PLAZA_CONTROL_URL, PLAZA_CONTROL_KEY } = process.env;
const minted = await fetch(`${PLAZA_CONTROL_URL}/v1/worlds/default/tokens`, {
  method: "POST",
  headers: { authorization: `Bearer ${PLAZA_CONTROL_KEY}` },
  body: JSON.stringify({ type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging", "pages_read_engagement"] }),
});
const { token } = (await minted.json()) as { token: string };
const labels = await fetch(`${PLAZA_BASE_URL}/v26.0/2001/custom_labels`, { headers: { authorization: `Bearer ${token}` } });
process.exit(labels.ok ? 0 : 1);

export {};
