// What is shown: one object, and those who draw it.

import type { Detail } from "./data";

export type Mode = "occupancy" | Detail | "utilization" | "stalledWhole";

/** What of the fabric is drawn: the foremost root's tree alone, all trees, everything. */
export type Focus = "root" | "trees" | "all";

export interface State {
  run: number;
  time: number;
  lane: number;
  mode: Mode;
  focus: Focus;
  /** A link by its place, -1 for none: the one that was clicked, and the one under the pointer. */
  chosen: number;
  hovered: number;
}

export type Key = keyof State;
type Listener = (changed: Set<Key>) => void;

/** Holds the state; listeners hear once per drawn frame what has changed. */
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

  /** Tells all listeners now, for tests and for printing. */
  tell(): void {
    const changed = this.changed;
    this.changed = new Set();
    if (changed.size > 0) for (const listener of this.listeners) listener(changed);
  }
}
