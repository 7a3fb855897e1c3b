// The page of reports: node build.mjs [OUT]
import { writeFileSync } from "node:fs";
import { here, page } from "./bundle.mjs";

const made = await page({
  name: "report",
  needs: "The pictures and tables of this page need JavaScript. Without it, becalm explain prints what a run shows.",
  style: "src/style.css",
  entry: "src/main.ts",
  parts: "<!--payload-->",
});
writeFileSync(process.argv[2] ?? here("../python/becalm/reports/template.html"), made);
