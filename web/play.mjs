// The playground: node play.mjs CORE [OUT], where CORE is becalm_wasm.wasm, or a playground whose core is taken over.
import { readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { here, page, script } from "./bundle.mjs";
import { coreOf } from "./core.mjs";

const PAGE = here("../python/becalm/reports/play.html");
/** Bytes above which nothing is written, so that the page does not grow unnoticed. */
const MOST = { module: 1_890_000, deflated: 690_000, page: 1_120_000 };
const [from = PAGE, out = PAGE] = process.argv.slice(2);

const { module, packed } = await coreOf(from);
const parts = [
  "<!--given-->",
  `<script type="text/plain" id="worker">${await script("src/worker.ts")}</script>`,
  `<script type="application/octet-stream" id="catalogue">${packed.catalogue}</script>`,
  `<script type="application/octet-stream" id="core">${packed.core}</script>`,
];
const made = await page({
  name: "playground",
  needs: "The playground simulates in the browser, which needs JavaScript and WebAssembly. Without them, becalm run --twin compares a scenario with and without congestion control.",
  style: "src/play.css",
  entry: "src/play.ts",
  parts: parts.join("\n"),
  sources: " 'wasm-unsafe-eval'; worker-src blob:",
});

for (const folder of [homedir(), process.cwd()]) {
  if (folder.length > 1 && module.includes(`${folder}/`)) throw new Error(`the core holds the path ${folder}: build it with make playground`);
}
const sizes = { module: module.length, deflated: (packed.core.length * 3) / 4, page: Buffer.byteLength(made) };
for (const [name, most] of Object.entries(MOST)) {
  if (sizes[name] > most) throw new Error(`${name}: ${sizes[name]} bytes, more than ${most}`);
}
writeFileSync(out, made);
console.log(Object.entries(sizes).map(([name, size]) => `${name} ${Math.round(size / 1000)} kB`).join(", "));
