// A scenario in a link: its deflated text, in the fragment of the address, which is not sent to servers.

const KEY = "s=";
/** Largest size of a scenario in bytes; `becalm play` has the same limit. */
export const MOST_TEXT = 1_000_000;
/** Number of bytes inflated at once; they expand at most a thousandfold. */
const PIECE = 1024;

/** The contents of a link: a scenario, or the reason why there is none. */
export type Given = { text: string } | { problem: string };

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

export async function toFragment(text: string): Promise<string> {
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const letters = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return `#${KEY}${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The contents of a fragment; null if it contains no scenario. */
export async function fromFragment(fragment: string): Promise<Given | null> {
  if (!fragment.startsWith(`#${KEY}`)) return null;
  const long = { problem: `The scenario in this link exceeds the limit of ${MOST_TEXT / 1e6} MB for a page. Save it as a file and run it with becalm run.` };
  // Base64 of deflated bytes: even an incompressible text needs no more.
  if (fragment.length > 1.5 * MOST_TEXT) return long;
  try {
    const text = await inflatedText(bytesOf(fragment.slice(KEY.length + 1).replaceAll("-", "+").replaceAll("_", "/")));
    return text === null ? long : { text };
  } catch {
    return { problem: "The scenario in this link cannot be read: the link is damaged or incomplete. Ask for a new link, or choose a scene." };
  }
}

/** The text of deflated bytes; null as soon as it is too long. */
async function inflatedText(packed: Uint8Array<ArrayBuffer>): Promise<string | null> {
  let at = 0;
  const pieces = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      if (at < packed.length) controller.enqueue(packed.slice(at, (at += PIECE)));
      else controller.close();
    },
  });
  const reader = pieces.pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MOST_TEXT) {
      void reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

export async function inflated(base64: string): Promise<ArrayBuffer> {
  return (await through(bytesOf(base64), new DecompressionStream("deflate-raw"))).buffer;
}
