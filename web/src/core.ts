// The core as WebAssembly: texts in, values out. Its counterpart is crates/wasm.

import type { Kind } from "./kinds";

export interface Mistake {
  line: number | null;
  key: string;
  text: string;
}

export interface Mistakes {
  mistakes: Mistake[];
  /** Number of further mistakes. */
  more: number;
}

export interface Facts {
  summary: { hosts: number; switches: number };
  replications: number;
  schemes: Record<Kind, string>;
  packet_hops: number;
  memory: number;
  controlled: boolean;
  bare: string;
}

export type Checked = Mistakes | Facts;

export interface Summary {
  fingerprint: string;
  packet_hops: number;
  events: number;
  end: number;
}

export type Outcome = { summary: Summary; payload: ArrayBuffer } | Mistakes | { failed: string };

export interface Parameter {
  name: string;
  kind: string;
  unit: string;
  default: unknown;
  required: boolean;
  range: string;
  /** Bounds; null for none and for values that are not numbers. */
  minimum: number | null;
  maximum: number | null;
  help: string;
}

/** The marking and the echo that a response is meant for; `also`: whether `no` other marking suits it as well, those that
 * `mark`, or `any`. */
export interface Companions {
  marking: string;
  also: "no" | "mark" | "any";
  echo: string;
}

export interface Entry {
  name: string;
  doc: string;
  parameters: Parameter[];
  /** Of a response, unless they depend on its parameters. */
  companions?: Companions | null;
}

/** Possible contents of a scenario; the page contains them as JSON. */
export type Catalogue = Record<string, Entry[]>;

interface Exports {
  memory: WebAssembly.Memory;
  becalm_take(length: number): number;
  becalm_give_back(address: number, length: number): void;
  becalm_check(text: number, length: number): number;
  becalm_run(text: number, length: number, replication: number, control: number): number;
  becalm_versus(text: number, length: number): number;
  becalm_version(): number;
}

/** Reports the completed share of a run and its packet-hops; returns whether to continue. */
export type Progress = (share: number, packetHops: number) => boolean;

/** An instance of the module. Its memory never shrinks, so every run gets a new one. */
export class Core {
  private readonly exports: Exports;
  private panic = "";

  constructor(module: WebAssembly.Module, progress: Progress = () => true) {
    const becalm = {
      progress: (share: number, packetHops: number) => (progress(share, packetHops) ? 0 : 1),
      panicked: (address: number, length: number) => {
        this.panic = this.text(address, length);
      },
    };
    this.exports = new WebAssembly.Instance(module, { becalm }).exports as unknown as Exports;
  }

  check(text: string): Checked {
    return JSON.parse(this.given(text, (at, length) => this.string(this.exports.becalm_check(at, length))));
  }

  run(text: string, control: boolean, replication = 0): Outcome {
    const bytes = this.given(text, (at, length) => this.taken(this.exports.becalm_run(at, length, replication, control ? 1 : 0)));
    const length = new DataView(bytes.buffer).getUint32(0, true);
    const summary = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    return "fingerprint" in summary ? { summary, payload: bytes.slice(4 + length).buffer } : summary;
  }

  /** What a change did, from the outcomes of two payloads, in a sentence with the change as its subject. */
  versus(before: object, after: object, subject: string): string {
    const text = JSON.stringify({ before, after, subject });
    return this.given(text, (at, length) => this.string(this.exports.becalm_versus(at, length)));
  }

  version(): string {
    return this.string(this.exports.becalm_version());
  }

  /** Memory of the instance in bytes. */
  memory(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /** Passes a text to a call; a panic becomes an error with its text. */
  private given<T>(text: string, call: (address: number, length: number) => T): T {
    const bytes = new TextEncoder().encode(text);
    const address = this.exports.becalm_take(bytes.length);
    new Uint8Array(this.exports.memory.buffer, address, bytes.length).set(bytes);
    try {
      const answer = call(address, bytes.length);
      this.exports.becalm_give_back(address, bytes.length);
      return answer;
    } catch (error) {
      throw this.panic ? new Error(this.panic) : error;
    }
  }

  /** The bytes of an answer, which is then freed. */
  private taken(address: number): Uint8Array<ArrayBuffer> {
    const length = new DataView(this.exports.memory.buffer).getUint32(address, true);
    const bytes = new Uint8Array(this.exports.memory.buffer, address + 4, length).slice();
    this.exports.becalm_give_back(address, length + 4);
    return bytes;
  }

  private string(address: number): string {
    return new TextDecoder().decode(this.taken(address));
  }

  private text(address: number, length: number): string {
    return new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, address, length));
  }
}
