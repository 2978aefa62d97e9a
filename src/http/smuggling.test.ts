import { describe, expect, test } from "bun:test";
import { Owner } from "#harness/http/lone-connection";

const smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n";
describe("bytes that two readers could understand differently are refused, and nothing after them is read", () => {
  test.each([
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x1\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1 1\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999999999999\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 1\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length\t: 1\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\nX: a\r\n Content-Length: 1\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\n Content-Length: 1\r\n\r\na",
    "POST / HTTP/1.1\nContent-Length: 1\n\na",
    "POST / HTTP/1.1\r\nHost: h\r\nX: a\nContent-Length: 1\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\nX: a\rContent-Length: 1\r\n\r\na",
    "POST / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: a\r\nHOST: a\r\n\r\n",
    "POST / HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1\r\nX: y\r\n\r\n",
    "POST / HTTP/1.1\r\nHost:\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a b\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a/../b\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: u@h\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a, b\r\n\r\n",
    "POST / HTTP/1.0\r\nHost: a b\r\n\r\n",
    "POST a HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST ?a HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST h:1 HTTP/1.1\r\nHost: h\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST http:/h HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST http:///a HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST http://u@h/a HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST http://h:x/a HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST http://h/a HTTP/1.1\r\n\r\n",
    "CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n",
    "CONNECT / HTTP/1.1\r\nHost: h\r\n\r\n",
    "-POST / HTTP/1.1\r\nHost: h\r\n\r\n",
    "\r\n\r\nPOST / HTTP/1.1\r\nHost: h\r\n\r\n",
    "\r\n\r\n",
    "\rPOST / HTTP/1.1\r\nHost: h\r\n\r\n",
    "\nPOST / HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
    "POST /  HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST / HTTP/1.1 \r\n\r\n",
    "POST / HTTP/2.0\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    " POST / HTTP/1.1\r\nHost: h\r\n\r\n",
    "\x16\x03\x01\x02\x00",
    `${"A".repeat(40)} / HTTP/1.1\r\nHost: h\r\n\r\n`,
  ])("%j", async (text) => {
    for (const parts of [[text + smuggled], [text, smuggled], [...text, smuggled]]) {
      const owner = new Owner();
      await owner.send(...parts);
      const { seen, refused, responses, line } = owner;
      expect({ seen, refused: refused.length, responses, events: line.events }).toEqual({
        seen: [],
        refused: 1,
        responses: "refused!",
        events: ["shutdown"],
      });
    }
  });

  test.each([
    "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n1 1\r\n",
    "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n1;x\ny\r\na\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n1;x y\r\na\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n1 ;x\r\na\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n100000000\r\n",
    "Transfer-Encoding: chunked\r\n\r\n0\r\nX : y\r\n\r\n",
    `Transfer-Encoding: chunked\r\n\r\n0\r\n${`X: ${"y".repeat(200)}\r\n`.repeat(50)}\r\n`,
  ])("chunks: %j", async (text) => {
    const owner = new Owner();
    await owner.send(`POST / HTTP/1.1\r\nHost: h\r\n${text}`, smuggled);
    const { seen, responses, line } = owner;
    expect({ seen: seen.map(({ target, problem }) => ({ target, problem })), responses, events: line.events }).toEqual({
      seen: [{ target: "/", problem: "malformed-chunks" }],
      responses: "last!",
      events: ["shutdown"],
    });
  });

  test("a body that was not received ends the connection", async () => {
    const owner = new Owner({ bodyBytesMax: 3 });
    await owner.send(`POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n${smuggled}`, smuggled);
    const { seen, responses, line } = owner;
    expect({ seen: seen.length, responses, events: line.events }).toEqual({ seen: 1, responses: "last!", events: ["shutdown"] });
  });
});
