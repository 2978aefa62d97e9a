import { test } from "bun:test";
import { heapStats, memoryUsage } from "bun:jsc";
import { createReadStream } from "node:fs";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { receiveFile, findReport } from "#features/product-feeds";
test("mem", async () => {
  const plaza = await openPlaza({ world: { ...cafe, catalogs: [{ id: "8001", page: "2001" }], product_feeds: [{ id: "8101", catalog: "8001" }] } });
  const show = (what: string) => { const m = process.memoryUsage(); console.log(what, "rss", (m.rss/1e6)|0, "heapUsed", (m.heapUsed/1e6)|0, "ext", (m.external/1e6)|0, "ab", (m.arrayBuffers/1e6)|0, JSON.stringify((({heapSize,heapCapacity,extraMemorySize,objectCount})=>({h:heapSize/1e6|0,c:heapCapacity/1e6|0,x:extraMemorySize/1e6|0,objectCount}))(heapStats()))); };
  show("start");
  await receiveFile(plaza.world, "8101", createReadStream("/tmp/feedlab/m.csv"), {});
  show("received");
  const t = setInterval(() => show("run"), 1000);
  await plaza.world.work.runDue(); clearInterval(t); show("done");
  console.log((await findReport(plaza.world.database.reader, "8101", 1))?.items);
}, 120000);
