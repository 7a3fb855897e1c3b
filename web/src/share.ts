// A scenario in a link: its text, deflated, in the part of the address that no server sees.

const KEY = "s=";

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

export async function toFragment(text: string): Promise<string> {
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const letters = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return `#${KEY}${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The text of a fragment; null if it has none, or a damaged one. */
export async function fromFragment(fragment: string): Promise<string | null> {
  if (!fragment.startsWith(`#${KEY}`)) return null;
  try {
    const packed = bytesOf(fragment.slice(KEY.length + 1).replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder("utf-8", { fatal: true }).decode(await through(packed, new DecompressionStream("deflate-raw")));
  } catch {
    return null;
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
