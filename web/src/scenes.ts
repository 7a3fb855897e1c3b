// The scenes that a reader can choose: scenarios with sliders, each with its title and story in its first comment.

import allReduce from "../scenes/all_reduce.toml";
import dumbbell from "../scenes/dumbbell.toml";
import hotSpot from "../scenes/hot_spot.toml";
import incast from "../scenes/incast.toml";
import slowReceiver from "../scenes/slow_receiver.toml";
import spines from "../scenes/spines.toml";

export interface Scene {
  name: string;
  text: string;
}

export const SCENES: Scene[] = [
  { name: "hot_spot", text: hotSpot },
  { name: "dumbbell", text: dumbbell },
  { name: "incast", text: incast },
  { name: "slow_receiver", text: slowReceiver },
  { name: "spines", text: spines },
  { name: "all_reduce", text: allReduce },
];

/** The heading and the story of a scenario: the first sentence of its top comment, and the rest. */
export function story(text: string): { title: string; more: string } {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("#"));
  const comment = lines.slice(0, end < 0 ? lines.length : end).map((line) => line.replace(/^#\s?/, ""));
  const [first, ...more] = comment.join("\n").trim().split(/\n\s*\n/);
  const sentences = /^([\s\S]*?[.:?!])(?:\s+([\s\S]*))?$/.exec(first.replaceAll("\n", " "));
  const title = (sentences?.[1] ?? first).replace(/[.:]$/, "").trim();
  const story = [sentences?.[2] ?? "", ...more.map((part) => part.replaceAll("\n", " "))].join(" ").trim();
  return { title: title || "A scenario", more: story.charAt(0).toUpperCase() + story.slice(1) };
}
