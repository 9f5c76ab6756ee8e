// @ts-check
// The commands of the command palette.

import { t } from "../../text/text.js";
import { openDialog } from "../core/dialog.js";
import { prefer } from "../core/preferences.js";
import { fragment, labPage, linkTo, pages, shownPages } from "../core/route.js";
import { signOut } from "../core/session.js";
import { channelName, mayModerate } from "../core/state.js";
import { hasModes } from "../now/modes-button.js";
import { openNodes } from "../now/nodes.js";
import { turn } from "../now/switches.js";
/** @import { State } from "../core/state.js" */

/**
 * Command is an entry of the palette. keys are the keys that do the same.
 * @typedef {{id: string, name: string, icon: string, about?: string, keys?: string, run: () => unknown}} Command
 */

// pageKeys are the keys that go to a page after g.
export const pageKeys = { now: "n", limits: "l", people: "p", journal: "j", audit: "a", admin: "m" };

export const pageIcons = { now: "pulse", limits: "sliders", people: "people", journal: "list", audit: "history", admin: "key" };

// commandsOf returns the commands that are possible now.
/** @param {State} state @returns {Command[]} */
export function commandsOf(state) {
  return [...toPages(state), toLab(), ...toNodes(state), ...switches(state), ...toChannels(state), ...settings(state)];
}

/** @param {State} state @returns {Command[]} */
function toPages(state) {
  return shownPages().map((page) => ({
    id: `go-${page}`, name: t("shell.go-to", { page: pages[page] }), icon: pageIcons[page], keys: `g ${pageKeys[page]}`, run: () => go(linkTo(state, page)),
  }));
}

/** @returns {Command} */
const toLab = () => ({ id: "go-lab", name: t("shell.go-lab"), icon: "flask", about: t("shell.go-lab-about"), run: () => location.assign(labPage) });

/** @param {State} state @returns {Command[]} */
function toNodes(state) {
  const run = () => {
    go(linkTo(state, "now", { nodes: "1" }));
    openNodes();
  };
  return state.status?.shared && state.me.all ? [{ id: "nodes", name: t("shell.nodes"), icon: "nodes", about: t("shell.nodes-about"), run }] : [];
}

/** @param {State} state @returns {Command[]} */
function toChannels({ channels, channel, route }) {
  return channels.filter(({ id }) => id !== channel).map((one) => ({
    id: `channel-${one.id}`, name: t("shell.go-channel", { channel: channelName(one) }), icon: "message", run: () => go(fragment(route, one.id)),
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
      ? { id: "raid", name: t("shell.raid-end"), icon: "raid", run: press("raid", "off") }
      : { id: "raid", name: t("shell.raid-start"), icon: "raid", about: t("shell.raid-about"), run: press("raid", "on") },
    pausedBy
      ? { id: "pause", name: t("shell.resume"), icon: "play", about: t("shell.resume-about"), run: press("pause", "off") }
      : { id: "pause", name: t("shell.pause"), icon: "pause", about: t("shell.pause-about"), run: press("pause", "on") },
    ...(hasModes(state) ? [{ id: "modes", name: t("now.modes"), icon: "message", about: t("words.mode-slow"), run: () => openDialog("modes") }] : []),
  ];
}

/** @param {State} state @returns {Command[]} */
function settings({ me, preferences: { density } }) {
  const isCompact = density === "compact";
  return [
    { id: "theme-system", name: t("shell.command-theme-system"), icon: "monitor", run: () => prefer({ theme: "system" }) },
    { id: "theme-light", name: t("shell.command-theme-light"), icon: "sun", run: () => prefer({ theme: "light" }) },
    { id: "theme-dark", name: t("shell.command-theme-dark"), icon: "moon", run: () => prefer({ theme: "dark" }) },
    {
      id: "density", name: isCompact ? t("shell.command-comfortable") : t("shell.command-compact"), icon: "menu",
      run: () => prefer({ density: isCompact ? "comfortable" : "compact" }),
    },
    { id: "alerts", name: t("shell.alerts"), icon: "bell", about: t("shell.command-alerts-about"), run: () => openDialog("alerts") },
    { id: "keys", name: t("shell.keys"), icon: "keyboard", keys: "?", run: () => openDialog("keys") },
    ...(me.mounted ? [] : [{ id: "sign-out", name: t("shell.sign-out"), icon: "sign-out", run: signOut }]),
  ];
}

/** @param {string} address */
const go = (address) => {
  location.hash = address;
};

// matching returns the commands whose words begin with all words of a text. In a script without
// spaces, a word may be anywhere.
/** @param {Command[]} commands @param {string} text */
export function matching(commands, text) {
  const typed = wordsOf(text);
  return commands.filter(({ name, about = "" }) => {
    const words = wordsOf(`${name} ${about}`);
    return typed.every((start) => words.some((word) => (unspaced.test(start) ? word.includes(start) : word.startsWith(start))));
  });
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** @param {string} text */
const wordsOf = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
