/** D-171: tests the API's report of the sealing keys, and the time for which a replaced key still opens secrets. */
import { expect, test } from "bun:test";
import type { Config } from "#config/config";
import { keyRingOf } from "#config/secret-key";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { masterKeyId } from "#storage/sealing";
import { randomKey } from "#system";

const SEALING_KEY = "/v1/sealing-key";
const NOW = 1_795_000_000;
const DAY = 86_400;

const ownKeys = () => keyRingOf({ data: ":memory:", secret_key: undefined, further_secret_keys: [] } as unknown as Config, randomKey);

onEachDatabase("D-171: the keys that seal secrets", (database) => {
  test("a replaced key opens secrets for a week by default, and for a month at most", async () => {
    const { request } = await openControl({ database, keys: ownKeys() });
    const endsOf = async (body: object) => {
      const response = await request("POST", `${SEALING_KEY}/rotate`, body);
      return response.body.previous?.[0]?.valid_until ?? response.body.error.parameter;
    };
    expect(await endsOf({})).toBe(NOW + 7 * DAY);
    expect(await endsOf({ overlap_seconds: 30 * DAY })).toBe(NOW + 30 * DAY);
    expect(await endsOf({ overlap_seconds: 30 * DAY + 1 })).toBe("overlap_seconds");
    expect(await endsOf({ overlap_seconds: 0 })).toBe("overlap_seconds");
  });

  test("an end is rounded up to its second; a key of the configuration has no end, and cannot be replaced here", async () => {
    const [current, ending, configured] = [randomKey(32), randomKey(32), randomKey(32)];
    const previous = [
      { key: ending, untilMs: NOW * 1_000 + 500 },
      { key: configured, untilMs: undefined },
    ];
    const { request } = await openControl({ database, keys: { current, previous, isOwn: false, rotate() {}, retire() {} } });
    expect((await request("GET", SEALING_KEY)).body).toEqual({
      key_id: masterKeyId(current),
      previous: [
        { key_id: masterKeyId(ending), valid_until: NOW + 1 },
        { key_id: masterKeyId(configured), valid_until: 0 },
      ],
      waiting: expect.any(Number),
    });
    expect((await request("POST", `${SEALING_KEY}/rotate`, {})).status).toBe(409);
  });
});
