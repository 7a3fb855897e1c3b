// Bundles the page into one file without references: python/becalm/report/template.html.
// The page may run this one script, named by its hash, and load nothing.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, write: false, minify: true, target: "es2022", charset: "utf8", legalComments: "none" };
const here = (path) => new URL(path, import.meta.url).pathname;
const bundle = async (entry, more) => (await build({ ...common, entryPoints: [here(entry)], ...more })).outputFiles[0].text;

const script = (await bundle("src/main.ts", { format: "iife" })).trim().replaceAll("</script", "<\\/script");
const style = (await bundle("src/style.css", {})).trim();
const hash = createHash("sha256").update(script).digest("base64");
const licence = readFileSync(here("node_modules/uplot/LICENSE"), "utf8").trim();
const parts = { HASH: `'sha256-${hash}'`, STYLE: style, SCRIPT: script, LICENCE: licence };
// Functions, since `$` has a meaning in a replacement.
const page = readFileSync(here("src/page.html"), "utf8").replace(/%(HASH|STYLE|SCRIPT|LICENCE)%/g, (_, name) => parts[name]);
writeFileSync(process.argv[2] ?? here("../python/becalm/report/template.html"), page);
