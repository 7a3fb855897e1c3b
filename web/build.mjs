// The page of reports: node build.mjs [OUT]
import { writeFileSync } from "node:fs";
import { here, page } from "./bundle.mjs";

const made = await page({ html: "src/page.html", style: "src/style.css", entry: "src/main.ts" });
writeFileSync(process.argv[2] ?? here("../python/becalm/report/template.html"), made);
