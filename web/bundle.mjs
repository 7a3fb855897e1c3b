// Bundles a page into one file without references. It may run the scripts in it, named by their hashes, and load nothing.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, write: false, minify: true, target: "es2022", charset: "utf8", legalComments: "none", loader: { ".toml": "text" } };
export const here = (path) => new URL(path, import.meta.url).pathname;
const bundle = async (entry, more) => (await build({ ...common, entryPoints: [here(entry)], ...more })).outputFiles[0].text;

/** A script as the text of an element. */
export const script = async (entry) => (await bundle(entry, { format: "iife" })).trim().replaceAll("</script", "<\\/script");

/**
 * A page with its style and its script, and further elements before the script. It needs what `needs` says where it does
 * not run; `sources` is what its policy allows scripts besides.
 */
export async function page({ name, needs, style, entry, parts, sources = "" }) {
  const main = await script(entry);
  const hash = createHash("sha256").update(main).digest("base64");
  const all = {
    NAME: name,
    NEEDS: needs,
    SOURCES: `'sha256-${hash}'${sources}`,
    STYLE: (await bundle(style, {})).trim(),
    SCRIPT: main,
    LICENCE: readFileSync(here("node_modules/uplot/LICENSE"), "utf8").trim(),
    PARTS: parts,
  };
  // Functions, since `$` has a meaning in a replacement.
  return readFileSync(here("src/page.html"), "utf8").replace(/%([A-Z]+)%/g, (_, name) => all[name]);
}
