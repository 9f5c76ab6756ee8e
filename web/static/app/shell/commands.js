// @ts-check
// The commands of the command palette.

import { openDialog } from "../core/dialog.js";
import { prefer } from "../core/preferences.js";
import { fragment, labPage, linkTo, pages } from "../core/route.js";
import { signOut } from "../core/session.js";
import { channelName, mayModerate } from "../core/state.js";
import { openNodes } from "../now/nodes.js";
import { turn } from "../now/switches.js";
/** @import { State } from "../core/state.js" */

/**
 * Command is an entry of the palette. keys are the keys that do the same.
 * @typedef {{id: string, name: string, icon: string, about?: string, keys?: string, run: () => unknown}} Command
 */

// pageKeys are the keys that go to a page after g.
export const pageKeys = { now: "n", limits: "l", people: "p", journal: "j", audit: "a" };

export const pageIcons = { now: "pulse", limits: "sliders", people: "people", journal: "list", audit: "history" };

// commandsOf returns the commands that are possible now.
/** @param {State} state @returns {Command[]} */
export function commandsOf(state) {
  return [...toPages(state), toLab, ...toNodes(state), ...switches(state), ...toChannels(state), ...settings(state)];
}

/** @param {State} state @returns {Command[]} */
function toPages(state) {
  return /** @type {(keyof typeof pages)[]} */ (Object.keys(pages)).map((page) => ({
    id: `go-${page}`, name: `Go to ${pages[page]}`, icon: pageIcons[page], keys: `g ${pageKeys[page]}`, run: () => go(linkTo(state, page)),
  }));
}

/** @type {Command} */
const toLab = { id: "go-lab", name: "Go to the Lab", icon: "flask", about: "try limits without changing the channel", run: () => location.assign(labPage) };

/** @param {State} state @returns {Command[]} */
function toNodes(state) {
  const run = () => {
    go(linkTo(state, "now", { nodes: "1" }));
    openNodes();
  };
  return state.status?.shared ? [{ id: "nodes", name: "Nodes", icon: "nodes", about: "who shares the limits", run }] : [];
}

/** @param {State} state @returns {Command[]} */
function toChannels({ channels, channel, route }) {
  return channels.filter(({ id }) => id !== channel).map((one) => ({
    id: `channel-${one.id}`, name: `Switch to #${channelName(one)}`, icon: "message", run: () => go(fragment(route, one.id)),
  }));
}

// switches act on the channel. They go to the page Now, which shows the outcome.
/** @param {State} state @returns {Command[]} */
function switches(state) {
  const { channels, channel, status } = state;
  if (!mayModerate() || !status?.switches) return [];
  const { paused_by: pausedBy, raid_until: raidUntil } = channels.find((c) => c.id === channel) ?? {};
  /** @param {"pause" | "raid"} name @param {"on" | "off"} to */
  const press = (name, to) => () => {
    go(linkTo(state, "now"));
    turn(name, to);
  };
  return [
    raidUntil
      ? { id: "raid", name: "End raid mode", icon: "raid", run: press("raid", "off") }
      : { id: "raid", name: "Start raid mode", icon: "raid", about: "stricter limits for a while", run: press("raid", "on") },
    pausedBy
      ? { id: "pause", name: "Resume", icon: "play", about: "throttle again", run: press("pause", "off") }
      : { id: "pause", name: "Pause", icon: "pause", about: "throttle nobody until you resume", run: press("pause", "on") },
  ];
}

/** @param {State} state @returns {Command[]} */
function settings({ me, preferences: { density } }) {
  const other = density === "compact" ? "comfortable" : "compact";
  return [
    { id: "theme-system", name: "Theme: system", icon: "monitor", run: () => prefer({ theme: "system" }) },
    { id: "theme-light", name: "Theme: light", icon: "sun", run: () => prefer({ theme: "light" }) },
    { id: "theme-dark", name: "Theme: dark", icon: "moon", run: () => prefer({ theme: "dark" }) },
    { id: "density", name: `Density: ${other}`, icon: "menu", run: () => prefer({ density: other }) },
    { id: "alerts", name: "Alerts", icon: "bell", about: "sound and desktop notifications", run: () => openDialog("alerts") },
    { id: "keys", name: "Keyboard shortcuts", icon: "keyboard", keys: "?", run: () => openDialog("keys") },
    ...(me.mounted ? [] : [{ id: "sign-out", name: "Sign out", icon: "sign-out", run: signOut }]),
  ];
}

/** @param {string} address */
const go = (address) => {
  location.hash = address;
};

// matching returns the commands whose words begin with all words of a text.
/** @param {Command[]} commands @param {string} text */
export function matching(commands, text) {
  const typed = wordsOf(text);
  return commands.filter(({ name, about = "" }) => {
    const words = wordsOf(`${name} ${about}`);
    return typed.every((start) => words.some((word) => word.startsWith(start)));
  });
}

/** @param {string} text */
const wordsOf = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
