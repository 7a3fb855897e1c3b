// Links to scenarios: what comes back, and what a damaged or a huge one does.
import assert from "node:assert/strict";
import test from "node:test";
import { deflateRawSync } from "node:zlib";
import { module } from "./module.mjs";

const { MOST_TEXT, fromFragment, toFragment } = await module("src/share.ts");
const link = (bytes) => `#s=${deflateRawSync(bytes).toString("base64url")}`;

test("a text comes back as it was", async () => {
  for (const text of ["", "a = 1\n", "# ä \u{1F600}\n".repeat(5000), "x".repeat(MOST_TEXT)]) assert.deepEqual(await fromFragment(await toFragment(text)), { text });
  assert.equal(await fromFragment(""), null);
  assert.equal(await fromFragment("#other"), null);
});

test("a damaged link says so", async () => {
  const whole = await toFragment("[run]\nduration = '1 ms'\n".repeat(20));
  for (const broken of ["#s=", "#s=%%%", whole.slice(0, -10), "#s=____", link(Buffer.from([0xff, 0xfe, 0x80]))]) {
    const { problem } = await fromFragment(broken);
    assert.match(problem, /cannot be read: the link is damaged or incomplete/, broken);
  }
});

test("a link that inflates beyond all bounds is refused before it does", async () => {
  const bomb = link(Buffer.alloc(300e6));
  assert.ok(bomb.length < 500_000);
  const before = process.resourceUsage().maxRSS;
  const { problem } = await fromFragment(bomb);
  assert.match(problem, /exceeds the limit of 1 MB/);
  assert.ok(process.resourceUsage().maxRSS - before < 50_000, "50 MB");
  assert.match((await fromFragment(link(Buffer.alloc(MOST_TEXT + 1, "x")))).problem, /exceeds the limit/);
  assert.match((await fromFragment(`#s=${"A".repeat(2e6)}`)).problem, /exceeds the limit/);
});
