/** The floor of the bench `start`: a server that always sends the same bytes. */
const headers = { "content-type": "application/json; charset=UTF-8" };
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response('{"id":"2001"}', { headers }) });
console.log(JSON.stringify({ ready: true, base_url: server.url.origin, pid: process.pid }));
