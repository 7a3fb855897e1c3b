// The worker: holds the compiled core, and checks and runs requests in order.

import { type Checked, Core, type Outcome } from "./core";

export type Request =
  | { kind: "load"; wasm: ArrayBuffer }
  | { kind: "about"; id: number }
  | { kind: "check"; id: number; text: string }
  | { kind: "versus"; id: number; before: object; after: object; subject: string }
  | { kind: "run"; id: number; text: string; control: boolean };

export type Reply =
  | { kind: "about"; id: number; version: string }
  | { kind: "checked"; id: number; checked: Checked }
  | { kind: "compared"; id: number; sentence: string }
  | { kind: "progress"; id: number; share: number; packetHops: number }
  /** `milliseconds` is the time of the run and its payload. */
  | { kind: "ran"; id: number; outcome: Outcome; milliseconds: number }
  | { kind: "broke"; id: number; problem: string };

interface Scope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(reply: Reply, transfer?: Transferable[]): void;
}

/** Milliseconds between two reports of progress. */
const PACE = 100;
const scope = self as unknown as Scope;
let compiled: Promise<WebAssembly.Module>;
let checker: Core | null = null;

scope.onmessage = async ({ data }) => {
  if (data.kind === "load") {
    compiled = WebAssembly.compile(data.wasm);
    return;
  }
  try {
    answer(data, await compiled);
  } catch (error) {
    // After a panic an instance is unusable.
    checker = null;
    scope.postMessage({ kind: "broke", id: data.id, problem: error instanceof Error ? error.message : String(error) });
  }
};

function answer(request: Exclude<Request, { kind: "load" }>, module: WebAssembly.Module): void {
  const { kind, id } = request;
  if (kind === "run") {
    run(module, id, request.text, request.control);
    return;
  }
  checker ??= new Core(module);
  if (kind === "check") scope.postMessage({ kind: "checked", id, checked: checker.check(request.text) });
  else if (kind === "versus") scope.postMessage({ kind: "compared", id, sentence: checker.versus(request.before, request.after, request.subject) });
  else scope.postMessage({ kind, id, version: checker.version() });
}

function run(module: WebAssembly.Module, id: number, text: string, control: boolean): void {
  const start = performance.now();
  let summary = start;
  const core = new Core(module, (share, packetHops) => {
    const now = performance.now();
    if (now - summary >= PACE) {
      summary = now;
      scope.postMessage({ kind: "progress", id, share, packetHops });
    }
    return true;
  });
  const outcome = core.run(text, control);
  const milliseconds = performance.now() - start;
  scope.postMessage({ kind: "ran", id, outcome, milliseconds }, "payload" in outcome ? [outcome.payload] : []);
}
