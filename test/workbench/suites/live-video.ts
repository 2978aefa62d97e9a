/** A test suite that knows Plaza only by its environment variables: it creates a live video in the first world. */
const { PLAZA_BASE_URL } = process.env;
const headers = { authorization: "Bearer user-token" };
const made = await fetch(`${PLAZA_BASE_URL}/v26.0/2001/live_videos`, { method: "POST", headers, body: new URLSearchParams({ title: "Opening" }) });
const { id } = (await made.json()) as { id?: string };
const read = await fetch(`${PLAZA_BASE_URL}/v26.0/${id}?fields=title,status`, { headers });
process.exit(made.ok && read.ok ? 0 : 1);

export {};
