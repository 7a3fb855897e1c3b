// The state of what is shown, and its listeners.

import type { Detail } from "./data";

export type Mode = "occupancy" | Detail | "utilization" | "stalledWhole";

/** The part of the fabric that is drawn: only the worst root's tree, all trees, everything. */
export type Focus = "root" | "trees" | "all";

export interface State {
  run: number;
  time: number;
  lane: number;
  mode: Mode;
  focus: Focus;
  /** Links by index, or -1: the clicked link and the one under the pointer. */
  chosen: number;
  hovered: number;
}

export type Key = keyof State;
type Listener = (changed: Set<Key>) => void;

/** Holds the state; listeners are told once per drawn frame what has changed. */
export class Store {
  private readonly listeners: Listener[] = [];
  private changed = new Set<Key>();

  constructor(private values: State) {}

  get now(): Readonly<State> {
    return this.values;
  }

  set(changes: Partial<State>): void {
    const before = this.changed.size;
    for (const [key, value] of Object.entries(changes) as [Key, never][]) {
      if (this.values[key] !== value) {
        this.values[key] = value;
        this.changed.add(key);
      }
    }
    if (before === 0 && this.changed.size > 0) requestAnimationFrame(() => this.tell());
  }

  on(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Notifies all listeners now, for tests and printing. */
  tell(): void {
    const changed = this.changed;
    this.changed = new Set();
    if (changed.size > 0) for (const listener of this.listeners) listener(changed);
  }
}
