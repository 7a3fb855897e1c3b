// The playground: node play.mjs CORE [OUT], where CORE is becalm_wasm.wasm, or a playground whose core is taken over.
import { readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { deflateRawSync } from "node:zlib";
import { here, page, script } from "./bundle.mjs";
import { coreOf } from "./core.mjs";

const PAGE = here("../python/becalm/report/play.html");
/** Bytes above which nothing is written, so that the page does not grow unnoticed. */
const MOST = { module: 2_500_000, deflated: 750_000, page: 1_150_000 };
const [from = PAGE, out = PAGE] = process.argv.slice(2);

const { module, base64 } = coreOf(from);
const core = base64 ?? deflateRawSync(module, { level: 9, memLevel: 9 }).toString("base64");
const made = await page({ html: "src/play.html", style: "src/play.css", entry: "src/play.ts", parts: { WORKER: await script("src/worker.ts"), CORE: core } });

for (const folder of [homedir(), process.cwd()]) {
  if (folder.length > 1 && module.includes(folder)) throw new Error(`the core holds the path ${folder}: build it with make playground`);
}
const sizes = { module: module.length, deflated: (core.length * 3) / 4, page: Buffer.byteLength(made) };
for (const [name, most] of Object.entries(MOST)) {
  if (sizes[name] > most) throw new Error(`${name}: ${sizes[name]} bytes, more than ${most}`);
}
writeFileSync(out, made);
console.log(Object.entries(sizes).map(([name, size]) => `${name} ${Math.round(size / 1000)} kB`).join(", "));
