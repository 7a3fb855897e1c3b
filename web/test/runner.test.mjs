// One run is under way and one waits; the newest request wins.
import assert from "node:assert/strict";
import { test } from "node:test";
import { module } from "./module.mjs";

const { Runner } = await module("src/runner.ts");

function scene() {
  const ports = [];
  const seen = [];
  let now = 0;
  const start = () => {
    const port = { onmessage: null, sent: [], gone: false, postMessage: (request) => port.sent.push(request), terminate: () => (port.gone = true) };
    ports.push(port);
    return port;
  };
  const listener = { progress: (share) => seen.push(share), done: (wish) => seen.push(wish.text), broke: (_, problem) => seen.push(problem) };
  const runner = new Runner(start, listener, () => now);
  const wish = (text) => runner.request({ text, control: true });
  const ended = (port, id) => port.onmessage({ data: { kind: "ran", id, outcome: {}, milliseconds: 1 } });
  return { ports, seen, runner, wish, ended, pass: (time) => (now += time) };
}

test("of those that wait only the newest is run", () => {
  const { ports, seen, runner, wish, ended } = scene();
  for (const text of ["a", "b", "c", "d"]) wish(text);
  assert.deepEqual(ports[0].sent.map(({ text }) => text), ["a"]);
  ended(ports[0], 1);
  assert.deepEqual(ports[0].sent.map(({ text }) => text), ["a", "d"]);
  ended(ports[0], 2);
  assert.deepEqual([seen, runner.busy], [["a", "d"], false]);
});

test("a run that lasts long is given up for a newer one", async () => {
  const { ports, seen, wish, ended, pass } = scene();
  wish("long");
  pass(10_000);
  wish("b");
  wish("c");
  await new Promise((done) => setTimeout(done, 30));
  assert.ok(ports[0].gone);
  assert.deepEqual(ports[1].sent.map(({ text }) => text), ["c"]);
  // What the old one still says is not listened to.
  ended(ports[0], 1);
  ended(ports[1], 2);
  assert.deepEqual(seen, ["c"]);
});

test("stop gives up what runs and what waits", () => {
  const { ports, runner, wish, seen } = scene();
  wish("a");
  wish("b");
  runner.stop();
  assert.ok(ports[0].gone && !runner.busy);
  wish("c");
  assert.deepEqual(ports[1].sent.map(({ text }) => text), ["c"]);
  ports[1].onmessage({ data: { kind: "broke", id: ports[1].sent[0].id, problem: "panicked" } });
  assert.deepEqual([seen, runner.busy], [["panicked"], false]);
});
