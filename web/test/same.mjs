// Whether the core as WebAssembly gives the fingerprints and the verdicts of the installed becalm, packet by packet:
//
//     node test/same.mjs CORE SCENARIO...
//
// CORE is becalm_wasm.wasm or a playground. PYTHON names the interpreter that has becalm. Scenarios that take longer than
// 5 s natively are left out. Prints times and memory of both; exit code 1 where one differs.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { here } from "../bundle.mjs";
import { coreOf, python } from "../core.mjs";

const [from, ...files] = process.argv.slice(2);
const code = await build({ stdin: { contents: 'export { Core } from "./core"; export { parse } from "./data";', resolveDir: here("src") }, bundle: true, write: false, format: "esm" });
const { Core, parse } = await import(`data:text/javascript;base64,${Buffer.from(code.outputFiles[0].contents).toString("base64")}`);
const given = await coreOf(from);
const module = await WebAssembly.compile(given.module);

/** What a catalogue offers, without its texts, which may change between two builds of a page. */
const offers = (catalogue) =>
  JSON.stringify(
    Object.entries(catalogue).sort().map(([list, entries]) => [list, entries.map(({ name, parameters }) => [name, parameters.map((each) => [each.name, each.kind, each.default, each.range])])]),
  );

/** The fingerprint of a text, and CPU seconds of the best of two runs. */
function run(text) {
  const times = [];
  for (let i = 0; i < 2; i++) {
    const core = new Core(module);
    const begin = process.cpuUsage();
    const outcome = core.run(text, true);
    const { user, system } = process.cpuUsage(begin);
    times.push((user + system) / 1e6);
    if (!("summary" in outcome)) throw new Error(JSON.stringify(outcome));
    if (i === 1 || times[0] > 2) return { ...outcome.summary, verdict: parse(outcome.payload).runs[0].verdict, seconds: Math.min(...times), memory: core.memory() };
  }
}

const lines = execFileSync(python, [here("test/native.py"), ...files], { encoding: "utf8", maxBuffer: 1 << 28 }).trim().split("\n").map((line) => JSON.parse(line));
const [native, ...runs] = lines;
let wrong = 0;
const core = new Core(module);
if (core.version() !== native.version) {
  console.error(`the core is of version ${core.version()}, becalm of ${native.version}`);
  wrong++;
}
if (offers(JSON.parse(given.catalogue)) !== offers(native.catalogue)) {
  console.error("the page offers other schemes or parameters than becalm: make playground");
  wrong++;
}
for (const { file, fingerprint, packet_hops, seconds, verdict } of runs) {
  if (!fingerprint) {
    console.log(`${file}: left out, longer than 5 s`);
    continue;
  }
  const here = run(readFileSync(file, "utf8"));
  const same = here.fingerprint === fingerprint && here.packet_hops === packet_hops;
  if (here.verdict !== verdict) console.error(`${file}: the page says "${here.verdict}", becalm "${verdict}"`);
  if (!same || here.verdict !== verdict) wrong++;
  const figures = `${packet_hops} packet-hops; ${seconds.toFixed(3)} s native, ${here.seconds.toFixed(3)} s here, ${(here.seconds / seconds).toFixed(2)}x; ${Math.round(here.memory / 1e6)} MB`;
  console.log(`${file}: ${same ? "same" : `OTHER ${here.fingerprint}`} ${fingerprint}; ${figures}`);
}
process.exitCode = wrong > 0 ? 1 : 0;
