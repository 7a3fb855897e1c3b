// What a playground has of the core: the module, and the catalogue of what a scenario may hold.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { here } from "./bundle.mjs";

/** The interpreter that has becalm. */
export const python = process.env.PYTHON ?? here("../.venv/bin/python");

/** What rustc's target has, and all browsers since 2022. */
const FEATURES = ["bulk-memory", "bulk-memory-opt", "sign-ext", "nontrapping-float-to-int", "mutable-globals", "multivalue", "reference-types"];
/** Passes by which the module becomes smaller both as it is and deflated. Sharing locals, as -Oz does, makes the latter larger. */
const PASSES = [
  ...["duplicate-function-elimination", "merge-similar-functions", "dae-optimizing", "optimize-instructions", "code-folding"],
  ...["remove-unused-brs", "merge-blocks", "rse", "vacuum", "duplicate-function-elimination"],
];

/**
 * The bytes of the module and the text of the catalogue, each also as the page has it. From a playground, both as they are
 * there; for a module of its own, made smaller first, the catalogue of the installed becalm.
 */
export async function coreOf(file) {
  const bytes = readFileSync(file);
  if (bytes.subarray(0, 4).equals(Buffer.from("\0asm", "latin1"))) {
    const catalogue = execFileSync(python, ["-c", "from becalm import _core; print(_core.catalogue(), end='')"], { encoding: "utf8", maxBuffer: 1 << 28 });
    const module = smaller(file);
    return { module, catalogue, packed: { core: await packed(module), catalogue: await packed(Buffer.from(catalogue)) } };
  }
  const page = bytes.toString("utf8");
  const part = (id) => {
    const found = new RegExp(`id="${id}">([^<]+)<`).exec(page)?.[1];
    if (!found) throw new Error(`${file}: neither a module nor a playground`);
    return found;
  };
  const [core, catalogue] = [part("core"), part("catalogue")];
  return { module: unpacked(core), catalogue: unpacked(catalogue).toString("utf8"), packed: { core, catalogue } };
}

function smaller(file) {
  const folder = mkdtempSync(join(tmpdir(), "becalm-"));
  try {
    const out = join(folder, "core.wasm");
    const options = [...FEATURES.map((feature) => `--enable-${feature}`), ...PASSES.map((pass) => `--${pass}`)];
    execFileSync(process.execPath, [here("node_modules/binaryen/bin/wasm-opt"), file, ...options, "-o", out]);
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Deflated as well as it can be: what travels is 5% smaller than by zlib. */
async function packed(bytes) {
  const { default: zopfli } = await import("@gfx/zopfli");
  // It would print its own source with every error.
  for (const event of ["uncaughtException", "unhandledRejection"]) process.removeAllListeners(event);
  return Buffer.from(await zopfli.deflateAsync(bytes, {})).toString("base64");
}
const unpacked = (text) => inflateRawSync(Buffer.from(text, "base64"));
