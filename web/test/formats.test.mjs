// Values are written by the kind of their column, as in the cases that Python is tested against, too.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { here } from "../bundle.mjs";
import { module } from "./module.mjs";

const { written } = await module("src/tables.ts");
const CASES = JSON.parse(readFileSync(here("../tests/data/formats.json"), "utf8"));

for (const { kind, unit, value, web } of CASES) {
  test(`${kind} ${value} is ${web}`, () => assert.equal(written({ kind, unit }, value), web));
}
