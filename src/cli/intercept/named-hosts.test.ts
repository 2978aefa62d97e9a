import { expect, test } from "bun:test";
import { namedHosts } from "./named-hosts.ts";

test("D-380: a host has the surface base and the first world, or those that are named", () => {
  expect(namedHosts(["Graph.example.com", "ads.example.com=ads", "v.example.com=microblog/second"])).toEqual([
    { name: "base", hostname: "graph.example.com", mount: "" },
    { name: "ads", hostname: "ads.example.com", mount: "" },
    { name: "microblog", hostname: "v.example.com", mount: "/v1.0", world: "second" },
  ]);
});

test("D-380: a wrong host is refused with an example", () => {
  const wrong = {
    "https://graph.example.com": "does not begin with a host name of the internet",
    "graph.example.com:443": "does not begin with a host name",
    "127.0.0.1": "does not begin with a host name",
    "a.localhost": "does not begin with a host name",
    graph: "does not begin with a host name",
    "": "does not begin with a host name",
    "a.example=ads=x": "does not begin with a host name",
    "a.example=add": "has an unknown surface: write one of base, app, microblog, ads, social_login; did you mean ads?",
    "a.example=ads/": "has an invalid world",
    "a.example=ads/x/y": "has an invalid world",
  };
  for (const [text, message] of Object.entries(wrong)) expect(() => namedHosts([text])).toThrow(message);
  expect(() => namedHosts(["a.example", "A.example=ads"])).toThrow("--as: is given twice for a.example");
  expect(() => namedHosts(Array.from({ length: 51 }, (_, at) => `h${at}.example`))).toThrow("at most 50");
});
