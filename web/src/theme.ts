// Colours of drawings. Shades differ in lightness as well as in hue, and widths grow with them, so they can be told
// apart without colour vision and on paper. Lines have Okabe and Ito's colours, with dashes.

export interface Theme {
  dark: boolean;
  text: string;
  faint: string;
  line: string;
  grid: string;
  paper: string;
  root: string;
  victim: string;
  shades: string[];
  lines: string[];
}

/** Number of shades of a link, from empty to full. */
export const STEPS = 16;
export const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2, 1, 2]];

const LIGHT: Theme = {
  dark: false,
  text: "#1b2530",
  faint: "#55616e",
  line: "#8593a1",
  grid: "#e6eaee",
  paper: "#ffffff",
  root: "#c94f00",
  victim: "#b4478a",
  shades: mixed(["#d3dae1", "#6fb9e6", "#0072b2", "#00182e"]),
  lines: ["#0072b2", "#c94f00", "#00795a", "#a3447f", "#8a6a00", "#3b4856"],
};

const DARK: Theme = {
  dark: true,
  text: "#e8edf2",
  faint: "#a3b0bd",
  line: "#5c6a78",
  grid: "#27303a",
  paper: "#141a21",
  root: "#ff9a4d",
  victim: "#e89ac7",
  shades: mixed(["#2f3944", "#1f6b9c", "#5fb8ec", "#f4faff"]),
  lines: ["#5fb8ec", "#ff9a4d", "#35c796", "#e89ac7", "#e3c24a", "#b9c4cf"],
};

const asked = matchMedia("(prefers-color-scheme: dark)");

/** The current theme of the page. */
export function theme(): Theme {
  const set = document.documentElement.dataset.theme;
  if (printing) return LIGHT;
  return (set ? set === "dark" : asked.matches) ? DARK : LIGHT;
}

let printing = false;
const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};
let listening = false;

/** Calls `then` when the theme changes, and before and after printing, which is always light. */
export function onTheme(then: () => void): void {
  listeners.add(then);
  if (listening) return;
  listening = true;
  asked.addEventListener("change", tell);
  new MutationObserver(tell).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  for (const [event, value] of [["beforeprint", true], ["afterprint", false]] as const) {
    addEventListener(event, () => {
      printing = value;
      tell();
    });
  }
}

/** Removes all listeners, for a page that replaces its drawings. */
export function forgetThemes(): void {
  listeners.clear();
}

/** Switches between light and dark. */
export function toggleTheme(): void {
  document.documentElement.dataset.theme = theme().dark ? "light" : "dark";
}

function mixed(stops: string[]): string[] {
  const channels = stops.map((stop) => [1, 3, 5].map((at) => Number.parseInt(stop.slice(at, at + 2), 16)));
  return Array.from({ length: STEPS }, (_, step) => {
    const place = (step / (STEPS - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    const mix = channels[low].map((value, i) => Math.round(value + (place - low) * (channels[low + 1][i] - value)));
    return `rgb(${mix.join(",")})`;
  });
}
