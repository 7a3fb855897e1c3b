// What Python writes is what the page reads: a payload is decoded by the page's own code and compared with the tables.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const python = process.env.PYTHON ?? (existsSync(here("../../.venv/bin/python")) ? here("../../.venv/bin/python") : "python3");
const folder = mkdtempSync(join(tmpdir(), "becalm-payload-"));
after(() => rmSync(folder, { recursive: true }));

const bundled = await build({ entryPoints: [here("../src/data.ts")], bundle: true, write: false, format: "esm" });
const { decode, parse } = await import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].text).toString("base64")}`);
execFileSync(python, [here("payload.py"), folder], { stdio: "inherit" });
const expected = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
const page = await decode(readFileSync(join(folder, "payload"), "utf8"));

const flat = (rows) => rows.flat();
const near = (found, wanted, room) => {
  assert.equal(found.length, wanted.length);
  for (let i = 0; i < wanted.length; i++) assert.ok(Math.abs(found[i] - wanted[i]) <= room(wanted[i]), `${i}: ${found[i]}, not ${wanted[i]}`);
};

test("names, links and runs are those of the tables", () => {
  assert.deepEqual(page.groups, expected.groups);
  assert.equal(page.runs.length, 2);
  const { names, from, to, port } = page.fabric;
  const run = expected.runs[0];
  assert.deepEqual(Array.from(from, (node) => names[node]), run.from);
  assert.deepEqual(Array.from(to, (node) => names[node]), run.to);
  assert.deepEqual([...port], run.port);
  assert.deepEqual(page.runs.map((each) => each.fingerprint), expected.runs.map((each) => each.fingerprint));
});

test("frames are equal byte by byte, in every lane of every run", () => {
  page.runs.forEach((run, i) => {
    const wanted = expected.runs[i];
    assert.deepEqual(run.frames.times, wanted.times);
    assert.deepEqual(run.frames.lanes.map((lane) => lane.vl), [0, 1]);
    for (const lane of run.frames.lanes) {
      assert.deepEqual([...lane.occupancy], flat(wanted.lanes[lane.vl].occupancy));
      assert.deepEqual([...lane.role], flat(wanted.lanes[lane.vl].role));
    }
    for (const name of ["busy", "stalled", "marked"]) assert.deepEqual([...run.frames.details[name]], flat(wanted.lanes[0][name]), name);
    assert.ok(run.frames.lanes[0].role.some((role) => role === 1), "a root is somewhere");
  });
});

test("shares, rates, latencies and spans are equal up to the digits that are kept", () => {
  page.runs.forEach((run, i) => {
    const wanted = expected.runs[i];
    near(Array.from(run.links.utilization, (byte) => byte / 255), wanted.utilization, () => 1 / 255);
    near(Array.from(run.links.stalled, (byte) => byte / 255), wanted.stalled, () => 1 / 255);
    const times = run.overTime.times.length;
    const rates = wanted.groups_sorted.flatMap((name) => {
      const group = page.groups.indexOf(name);
      return [...run.overTime.rates.subarray(group * times, (group + 1) * times)];
    });
    near(rates, wanted.rates, (value) => 1e-4 * Math.abs(value));
    page.groups.forEach((name, group) => {
      assert.equal(run.latencies[group].packets, wanted.packets[name]);
      assert.ok(Math.abs(run.latencies[group].shares.at(-1) - 1) < 1e-4);
    });
    const root = run.growth.roots.reduce((sum, count) => sum + count, 0) * run.growth.step;
    near([root], [wanted.root_time], (value) => 1e-3 * value);
  });
});

test("a payload of another format is refused", () => {
  const header = new TextEncoder().encode(JSON.stringify({ format: 99, arrays: [] }).padEnd(32));
  const bytes = new Uint8Array(8 + header.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(header.length), true);
  bytes.set(header, 8);
  assert.throws(() => parse(bytes.buffer), /format 1, not 99/);
});
