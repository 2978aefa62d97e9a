import { describe, expect, test } from "bun:test";
import { parametersReader } from "#graph/pipeline/parameters";
import type { Streaming } from "#graph/worlds/world";
import { createLiveVideo } from "../live-videos.contract.ts";
import type { LiveVideoRow } from "../live-videos.store.ts";
import { embedHtml, streamAddressOf } from "./addresses.ts";
import { type Place, placeOf } from "./place.ts";
import { EVERYWHERE, isOpenTo, refusalToWatch, targetingColumnsOf, targetingOf } from "./watching.ts";

const readParams = parametersReader(createLiveVideo.params);

describe("LIVE-24: targeting", () => {
  test("is stored once per country, in capitals and in order, and returned as it was sent", () => {
    const columns = targetingColumnsOf({ geo_locations: { countries: ["FR", "DE", "FR"] }, excluded_countries: ["AT"] });
    expect(columns).toEqual({ countries: " DE FR ", excluded_countries: " AT " });
    expect(targetingOf(columns)).toEqual({ geo_locations: { countries: ["DE", "FR"] }, excluded_countries: ["AT"] });
    expect(targetingOf({ countries: " DE ", excluded_countries: "" })).toEqual({ geo_locations: { countries: ["DE"] } });
    expect(targetingOf({ countries: "", excluded_countries: " DE " })).toEqual({ excluded_countries: ["DE"] });
    for (const empty of [{}, { geo_locations: {} }, { geo_locations: { countries: [] }, excluded_countries: [] }])
      expect({ columns: targetingColumnsOf(empty), targeting: targetingOf(targetingColumnsOf(empty)) }).toEqual({
        columns: EVERYWHERE,
        targeting: undefined,
      });
  });

  test.each([
    ["targeting.age", { age: 18 }],
    ["targeting.geo_locations.cities", { geo_locations: { cities: ["1"] } }],
    ["targeting.geo_locations.countries[1]", { geo_locations: { countries: ["DE", "XX"] } }],
    ["targeting.excluded_countries[0]", { excluded_countries: ["D"] }],
  ])("D-113: %s is refused, with its place", (parameter, targeting) => {
    expect(() => readParams({ targeting })).toThrow(parameter);
  });

  test("a video can be watched in its target countries, except excluded ones", () => {
    const open = (countries: string, excluded_countries: string, country?: string) => isOpenTo({ countries, excluded_countries }, country);
    expect([open("", "", "DE"), open(" DE FR ", "", "FR"), open("", " DE ", "FR"), open(" DE FR ", " DE ", "FR")]).toEqual([true, true, true, true]);
    expect([open(" DE FR ", "", "AT"), open("", " DE ", "DE"), open(" DE FR ", " DE ", "DE")]).toEqual([false, false, false]);
  });

  test("viewers from an unknown country watch only videos without limits", () => {
    expect(isOpenTo(EVERYWHERE, undefined)).toBe(true);
    expect(isOpenTo({ countries: " DE ", excluded_countries: "" }, undefined)).toBe(false);
    expect(isOpenTo({ countries: "", excluded_countries: " DE " }, undefined)).toBe(false);
  });
});

describe("whether somebody may watch", () => {
  const row = (words: Partial<LiveVideoRow>) =>
    ({ state: "live", broadcast_start_ms: 1_000, countries: "", excluded_countries: "", ...words }) as LiveVideoRow;
  const anybody = { country: "DE", isMobileWeb: false };
  const refusal = (words: Partial<LiveVideoRow>, nowMs = 1_000_000, viewer = anybody) => refusalToWatch(row(words), viewer, nowMs);

  test("LIVE-28: from 4.5 seconds after the broadcast began, to the millisecond", () => {
    expect(refusal({}, 5_499)).toBe("starting");
    expect(refusal({}, 5_500)).toBeUndefined();
    expect(refusal({ state: "reconnecting" }, 5_499)).toBe("starting");
    expect(refusal({ state: "vod" }, 5_499)).toBeUndefined();
    expect(refusal({ broadcast_start_ms: null }, 0)).toBeUndefined();
  });

  test("everything that is or was live, and is not taken down", () => {
    for (const state of ["live", "reconnecting", "key_dead", "ending", "stopped", "processing", "vod"] as const)
      expect(refusal({ state })).toBeUndefined();
  });

  test("LIVE-27: a browser on a phone waits for the recording", () => {
    const phone = { ...anybody, isMobileWeb: true };
    expect(refusal({}, 1_000_000, phone)).toBe("not_on_mobile_web_until_vod");
    expect(refusal({ state: "processing" }, 1_000_000, phone)).toBe("not_on_mobile_web_until_vod");
    expect(refusal({ state: "vod" }, 1_000_000, phone)).toBeUndefined();
  });

  test("LIVE-24: elsewhere nobody learns that it begins, and a video that was taken down does not exist anywhere", () => {
    expect(refusal({ excluded_countries: " DE " }, 1_001)).toBe("not_in_this_country");
    expect(refusal({ state: "unpublished", excluded_countries: " DE " })).toBe("not_published");
    for (const state of ["taken_down", "lapsed"] as const) expect(refusal({ state, excluded_countries: " DE " })).toBe("not_shown");
    for (const state of ["unpublished", "scheduled_live", "scheduled_expired", "scheduled_canceled"] as const)
      expect(refusal({ state })).toBe("not_published");
  });
});

describe("C1-3, D-51: a place", () => {
  const read = (input: unknown): Place | undefined => {
    const { place } = readParams({ place: input }) as { place?: Parameters<typeof placeOf>[0] | "" | null };
    return place === undefined || place === null || place === "" ? undefined : placeOf(place);
  };

  test("is an id, a point, or both, as JSON or as text", () => {
    expect(read("77")).toEqual({ id: "77" } as object);
    expect(read(77)).toEqual({ id: "77" } as object);
    expect(read({ id: "77" })).toEqual({ id: "77" } as object);
    expect(read(' {"location":{"latitude":1.5,"longitude":-2}}')).toEqual({ location: { latitude: 1.5, longitude: -2 } });
    expect(read({ id: 77, location: { latitude: "+1.5", longitude: "-2." } })).toEqual({
      id: "77",
      location: { latitude: 1.5, longitude: -2 },
    } as object);
  });

  test("keeps all digits of the client, and an id in JSON, too", () => {
    expect(read('{"id":9007199254740993,"location":{"latitude":52.520006599999995,"longitude":-1.2345678901234566e-7}}')).toEqual({
      id: "9007199254740993",
      location: { latitude: 52.520006599999995, longitude: -1.2345678901234566e-7 },
    } as object);
    expect(read({ location: { latitude: "52.520006599999995", longitude: "-1.2345678901234566e-7" } })).toEqual({
      location: { latitude: 52.520006599999995, longitude: -1.2345678901234566e-7 },
    });
  });

  test.each([[null], ["null"], [""]])("%p removes it", (input) => {
    expect(read(input)).toBeUndefined();
  });

  test("has degrees up to the poles and the date line", () => {
    const at = (latitude: unknown, longitude: unknown) => read({ location: { latitude, longitude } })?.location;
    expect(at(90, 180)).toEqual({ latitude: 90, longitude: 180 });
    expect(at(-90, "-180.0")).toEqual({ latitude: -90, longitude: -180 });
    for (const latitude of [90.001, -90.001, "90.001", "1e2", "1234", "", " 1", null, undefined, Number.NaN])
      expect(() => at(latitude, 0)).toThrow("place.location.latitude");
    for (const longitude of [180.001, -180.001]) expect(() => at(0, longitude)).toThrow("place.location.longitude");
    expect(at("0.12345678901234567890", 0)?.latitude).toBe(0.12345678901234568);
  });

  test.each([
    ["place", "x"],
    ["place", ["77"]],
    ["place.id or location", {}],
    ["place", true],
    ["place.id", { id: "x" }],
    ["place.id or location", { location: null }],
    ["place.location", { location: [1, 2] }],
    ["place.location", { location: "1,2" }],
  ])("%s is refused because it is %p", (parameter, input) => {
    expect(() => read(input)).toThrow(new RegExp(`Param ${parameter} (must|is required)`));
  });
});

describe("addresses", () => {
  const of = (given: Partial<Streaming> | undefined) => {
    const streaming = given === undefined ? undefined : { rtmpPort: undefined, rtmpsPort: undefined, rtmpUrl: undefined, ...given };
    return streamAddressOf({ streaming }, "https://plaza.test:8443/graph", "k");
  };

  test("D-115: an encoder connects to the host of the request, at the open ports", () => {
    expect(of(undefined)).toEqual({ stream_key: "k" });
    expect(of({ rtmpPort: 1935 })).toEqual({ stream_url: "rtmp://plaza.test:1935/live/k", stream_key: "k" });
    expect(of({ rtmpPort: 1935, rtmpsPort: 443 })).toMatchObject({ secure_stream_url: "rtmps://plaza.test:443/live/k" });
  });

  test("D-115: or to the media server that the operator named", () => {
    expect(of({ rtmpPort: 1935, rtmpUrl: "rtmp://media.test/app" })).toEqual({ stream_url: "rtmp://media.test/app/k", stream_key: "k" });
    expect(of({ rtmpUrl: "rtmps://media.test/app" })).toMatchObject({ secure_stream_url: "rtmps://media.test/app/k" });
  });

  test("LIVE-29: the frame has the shape of the picture, and its address is escaped", () => {
    const sizeOf = (feed_width: number | null, feed_height: number | null) =>
      /width="(\d+)" height="(\d+)"/
        .exec(embedHtml("http://a", { id: "1", feed_width, feed_height }))
        ?.slice(1)
        .map(Number);
    expect([
      sizeOf(null, null),
      sizeOf(1920, 1080),
      sizeOf(720, 1280),
      sizeOf(640, 480),
      sizeOf(10_000, 1),
      sizeOf(640, null),
      sizeOf(null, 480),
    ]).toEqual([
      ...[
        [1280, 720],
        [1280, 720],
        [1280, 2276],
        [1280, 960],
      ],
      ...[
        [1280, 1],
        [1280, 720],
        [1280, 720],
      ],
    ]);
    expect(embedHtml('http://a/"><b>&', { id: "1", feed_width: null, feed_height: null })).toStartWith(
      '<iframe src="http://a/&quot;&gt;&lt;b&gt;&amp;/player/1" ',
    );
  });
});
