// Modules of the pages, for tests in Node.
import { build } from "esbuild";
import { here } from "../bundle.mjs";

/** What a file of src/ exports. */
export async function module(path) {
  const made = await build({ entryPoints: [here(path)], bundle: true, write: false, format: "esm", loader: { ".toml": "text" } });
  return import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].contents).toString("base64")}`);
}
