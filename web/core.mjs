// What a playground has of the core: the module, and the catalogue of what a scenario may hold.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { here } from "./bundle.mjs";

/** The interpreter that has becalm. */
export const python = process.env.PYTHON ?? here("../.venv/bin/python");

/**
 * The bytes of the module and the text of the catalogue, each also as the page has it. From a playground, both as they are
 * there; for a module of its own, the catalogue of the installed becalm.
 */
export function coreOf(file) {
  const bytes = readFileSync(file);
  if (bytes.subarray(0, 4).equals(Buffer.from("\0asm", "latin1"))) {
    const catalogue = execFileSync(python, ["-c", "from becalm import _core; print(_core.catalogue(), end='')"], { encoding: "utf8", maxBuffer: 1 << 28 });
    return { module: bytes, catalogue, packed: { core: packed(bytes), catalogue: packed(Buffer.from(catalogue)) } };
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

const packed = (bytes) => deflateRawSync(bytes, { level: 9, memLevel: 9 }).toString("base64");
const unpacked = (text) => inflateRawSync(Buffer.from(text, "base64"));
