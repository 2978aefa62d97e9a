import { expect, test } from "bun:test";
import { embedHtml, playerUrl, shownTo, showOnce, streamAddressOf } from "./addresses.ts";

type Streaming = NonNullable<Parameters<typeof streamAddressOf>[0]["streaming"]>;

test("D-115: encoders connect to the host of the request, or to the named media server; without either there is no address", () => {
  const of = (streaming: Partial<Streaming> | undefined) =>
    streamAddressOf({ streaming: streaming as Streaming }, "https://plaza.example:8443/w/shop", "k");
  expect(of(undefined)).toEqual({ stream_key: "k" });
  expect(of({ rtmpPort: 1935 })).toEqual({ stream_key: "k", stream_url: "rtmp://plaza.example:1935/live/k" });
  expect(of({ rtmpPort: 1935, rtmpsPort: 1936 })).toEqual({
    ...{ stream_key: "k", stream_url: "rtmp://plaza.example:1935/live/k", secure_stream_url: "rtmps://plaza.example:1936/live/k" },
  });
  expect(of({ rtmpUrl: "rtmp://media.example/app" })).toEqual({ stream_key: "k", stream_url: "rtmp://media.example/app/k" });
  const secure = "rtmps://media.example/app/k";
  expect(of({ rtmpUrl: "rtmps://media.example/app" })).toEqual({ stream_key: "k", stream_url: secure, secure_stream_url: secure });
});

test("LIVE-29: the frame is 16x9, or has the shape of the encoder's picture, and at least a pixel", () => {
  const sizeOf = (feed_width: number | null, feed_height: number | null) =>
    /width="\d+" height="\d+"/.exec(embedHtml("https://plaza.example", { id: "5301", feed_width, feed_height }))?.[0];
  expect(sizeOf(null, null)).toBe('width="1280" height="720"');
  expect([sizeOf(640, null), sizeOf(null, 480)]).toEqual(['width="1280" height="720"', 'width="1280" height="720"']);
  expect(sizeOf(640, 480)).toBe('width="1280" height="960"');
  expect(sizeOf(1080, 1920)).toBe('width="1280" height="2276"');
  expect(sizeOf(100_000, 1)).toBe('width="1280" height="1"');
});

test("the host of a request cannot break out of the frame's attribute", () => {
  expect(playerUrl("https://plaza.example", "5301")).toBe("https://plaza.example/player/5301");
  const html = embedHtml('https://a"<b>&c', { id: "5301", feed_width: null, feed_height: null });
  expect(html).toStartWith('<iframe src="https://a&quot;&lt;b&gt;&amp;c/player/5301" ');
});

test("D-51: only the request that created the key gets the address", () => {
  const request = {};
  const address = { stream_key: "k" };
  expect(showOnce(request, address)).toBe(address);
  expect([shownTo(request), shownTo({})]).toEqual([address, undefined]);
});
