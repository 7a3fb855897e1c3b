// The core of a playground, or of a file of its own, for scripts.
import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";

/** The bytes of the module; with a page, also the text that it has of them. */
export function coreOf(file) {
  const bytes = readFileSync(file);
  if (bytes.subarray(0, 4).equals(Buffer.from("\0asm", "latin1"))) return { module: bytes };
  const base64 = /id="core">([^<]+)</.exec(bytes.toString("utf8"))?.[1];
  if (!base64) throw new Error(`${file}: neither a module nor a playground`);
  return { module: inflateRawSync(Buffer.from(base64, "base64")), base64 };
}
