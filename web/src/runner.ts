// The order of runs: at most one is active and one waits; the newest request replaces the waiting one.

import type { Outcome } from "./core";
import type { Reply, Request } from "./worker";

/** The part of a worker that a runner needs. */
export interface Port {
  onmessage: ((event: { data: Reply }) => void) | null;
  postMessage(request: Request): void;
  terminate(): void;
}

export interface Wish {
  text: string;
  control: boolean;
}

export interface Listener {
  progress(share: number, packetHops: number): void;
  done(wish: Wish, outcome: Outcome, milliseconds: number): void;
  broke(wish: Wish, problem: string): void;
}

/** A run that lasts longer than this, in ms, is abandoned for a newer one. */
const PATIENCE = 700;

export class Runner {
  private worker: Port;
  private current: (Wish & { id: number; since: number }) | null = null;
  private waiting: Wish | null = null;
  private last = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly start: () => Port,
    private readonly listener: Listener,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.worker = this.hired();
  }

  get busy(): boolean {
    return this.current !== null;
  }

  /** Runs this as soon as the active run has ended or has lasted too long. */
  request(wish: Wish): void {
    if (!this.current) {
      this.send(wish);
      return;
    }
    this.waiting = wish;
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => this.replace(), Math.max(0, this.current.since + PATIENCE - this.now()));
  }

  /** Abandons the active and the waiting run. */
  stop(): void {
    this.waiting = null;
    if (!this.current) return;
    this.dismiss();
  }

  private replace(): void {
    const next = this.waiting;
    this.dismiss();
    this.waiting = null;
    if (next) this.send(next);
  }

  private dismiss(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.worker.terminate();
    this.current = null;
    this.worker = this.hired();
  }

  private send(wish: Wish): void {
    this.last += 1;
    this.current = { ...wish, id: this.last, since: this.now() };
    this.worker.postMessage({ kind: "run", id: this.last, ...wish });
  }

  private hired(): Port {
    const worker = this.start();
    worker.onmessage = ({ data }) => this.receive(data);
    return worker;
  }

  private receive(reply: Reply): void {
    const { current } = this;
    if (!current || reply.id !== current.id) return;
    if (reply.kind === "progress") {
      this.listener.progress(reply.share, reply.packetHops);
      return;
    }
    this.current = null;
    clearTimeout(this.timer);
    this.timer = undefined;
    const next = this.waiting;
    this.waiting = null;
    // The next run proceeds while this one is drawn.
    if (next) this.send(next);
    const wish = { text: current.text, control: current.control };
    if (reply.kind === "ran") this.listener.done(wish, reply.outcome, reply.milliseconds);
    else if (reply.kind === "broke") this.listener.broke(wish, reply.problem);
  }
}
