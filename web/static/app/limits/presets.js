// @ts-check
// Presets: complete sets of limits and penalties for common kinds of chats.

import { t } from "../../text/text.js";
import { addedLimit, draftLimit, draftTowards, isFixed, limitOf, loadedOf, towards } from "./draft.js";
import { rolesOf } from "../words/roles.js";
import { isText } from "../words/scopes.js";
/** @import { Draft, DraftLimit } from "./draft.js" */

/**
 * @typedef {object} Preset
 * @property {string} id
 * @property {string} name
 * @property {string} about whom it is for
 * @property {Api.Limit[]} limits
 * @property {Api.Policy["penalties"]} penalties
 */

/**
 * @typedef {Pick<Preset, "id" | "name" | "limits"> & Partial<Preset> & {adds?: true}} Filling a
 *   preset, or limits without penalties; adds means that its limit comes on top of the others
 */

/** @param {number} burst @param {string} refill @param {Api.Limit["roles"]} [roles] @returns {Api.Limit} */
const burst = (burst, refill, roles) => ({ name: "burst", algorithm: "token-bucket", burst, refill, ...(roles && { roles }) });
/** @param {number} messages @param {Api.Limit["roles"]} [roles] @returns {Api.Limit} */
const daily = (messages, roles) => ({ name: "daily", algorithm: "daily-window", messages, ...(roles && { roles }) });
/** @param {string[]} ladder @param {string} [forget] @returns {Api.Policy["penalties"]} */
const penalties = (ladder, forget = "30m") => ({ ladder, strike_every: "10s", forget_after: forget });

// presets returns the presets with their texts.
/** @returns {Preset[]} */
export const presets = () => [
  {
    id: "gentle",
    name: t("limits.gentle"),
    about: t("limits.gentle-about"),
    limits: [burst(5, "2s"), daily(1000)],
    penalties: penalties(["delete", "delete", "delete", "warn", "timeout 30s"]),
  },
  {
    id: "busy",
    name: t("limits.busy"),
    about: t("limits.busy-about"),
    limits: [burst(3, "6s"), daily(300)],
    penalties: penalties(["delete", "delete", "warn", "timeout 1m", "timeout 10m"]),
  },
  {
    id: "raid-proof",
    name: t("limits.raid-proof"),
    about: t("limits.raid-proof-about"),
    limits: [
      burst(2, "15s", { subscriber: { burst: 3, refill: "8s" }, vip: { burst: 3, refill: "8s" }, first_timer: { burst: 1, refill: "30s" } }),
      daily(150, { subscriber: { messages: 300 }, vip: { messages: 300 } }),
      { name: "everyone", algorithm: "sliding-window", messages: 300, every: "1m", per: "channel", roles: { subscriber: { messages: 450 }, vip: { messages: 450 } } },
    ],
    penalties: penalties(["delete", "timeout 1m", "timeout 10m", "timeout 1h"], "1h"),
  },
  {
    id: "subscribers-first",
    name: t("limits.subscribers-first"),
    about: t("limits.subscribers-first-about"),
    limits: [
      burst(1, "30s", { subscriber: { burst: 5, refill: "3s" }, vip: { burst: 5, refill: "3s" } }),
      daily(30, { subscriber: { messages: 500 }, vip: { messages: 500 } }),
    ],
    penalties: penalties(["delete", "delete", "warn", "timeout 30s", "timeout 10m"]),
  },
];

// samePresets returns the limits on repeated messages that can be added to others.
/** @returns {(Filling & {about: string})[]} */
export const samePresets = () => [
  {
    id: "no-repeats",
    name: t("limits.no-repeats"),
    about: t("limits.no-repeats-about"),
    adds: true,
    limits: [{ name: "no-repeats", algorithm: "sliding-log", messages: 1, every: "30s", per: "user-text", similar: true }],
  },
  {
    id: "copy-paste",
    name: t("limits.copy-paste"),
    about: t("limits.copy-paste-about"),
    adds: true,
    limits: [{ name: "copy-paste", algorithm: "sliding-log", messages: 3, every: "30s", per: "text", similar: true }],
  },
];

// withRoles returns a limit without the numbers of roles that the policy doesn't have.
/** @param {Api.Limit} limit @param {string[]} known @returns {Api.Limit} */
function withRoles({ roles, ...limit }, known) {
  const own = Object.entries(roles ?? {}).filter(([role]) => known.includes(role));
  return own.length > 0 ? { ...limit, roles: Object.fromEntries(own) } : limit;
}

// withPreset returns the draft with the preset's limits in place of the others, and with its
// penalties if it has some. It keeps the mode, the time zone, exemptions, limits on repeated text,
// and limits that count across all channels. It also keeps a ladder that only blocks messages,
// because that is a chat server's. A preset that adds a limit keeps all others.
/** @param {{policy: Api.Policy, draft: Draft}} of @param {Filling} preset @returns {Draft} */
export function withPreset({ policy, draft }, preset) {
  if (preset.adds) return { ...draft, limits: toggled(draft, preset, policy) };
  const kept = draft.limits.filter((limit) => isFixed(limit.source) || isText(limit));
  const taken = kept.flatMap((limit) => [limit.name, loadedOf(policy, limit)?.name]);
  const own = preset.limits.map((limit) => ({ ...withRoles(limit, rolesOf(policy)), name: freeName(limit.name, taken) }));
  const filled = draftTowards(policy, { ...policy, limits: own, penalties: penaltiesOf(policy, preset) });
  const gone = filled.limits.slice(own.length).filter(({ id }) => !kept.some((limit) => limit.id === id));
  const { mode, timezone, exempt, exemptMessages, rungs, lengths } = draft;
  return { ...filled, limits: [...filled.limits.slice(0, own.length), ...kept, ...gone], mode, timezone, exempt, exemptMessages, ...(!preset.penalties && { rungs, lengths }) };
}

/** @typedef {"absent" | "changed" | "present"} Presence */

// presenceOf says whether a draft has the limit that a preset adds, as the preset makes it.
/** @param {Draft} draft @param {Filling} preset @returns {Presence} */
export function presenceOf({ limits }, preset) {
  const own = ownIn(limits, preset);
  if (!own || own.isRemoved) return "absent";
  return isAsMade(own, preset) ? "present" : "changed";
}

// ownIn returns the limit that a preset has added. It may have been changed or removed since.
/** @param {DraftLimit[]} limits @param {Filling} preset */
function ownIn(limits, preset) {
  const [{ name, per }] = preset.limits;
  return limits.find((limit) => !limit.isRemoved && isAsMade(limit, preset)) ?? limits.find((limit) => limit.name === name && limit.per === per);
}

/** @param {DraftLimit} limit @param {Filling} preset */
const isAsMade = (limit, { limits: [made] }) => effect(limit) === effect(draftLimit(made, ""));

// effect writes what a limit does, whatever its name.
/** @param {DraftLimit} limit */
const effect = (limit) => JSON.stringify(limitOf({ ...limit, source: { name: "", algorithm: limit.source.algorithm }, name: "", title: "" }));

// toggled returns limits with the one that a preset adds, as the preset makes it, or without it if
// they have it already.
/** @param {Draft} draft @param {Filling} preset @param {Api.Policy} policy */
function toggled(draft, preset, policy) {
  const { limits } = draft, [made] = preset.limits, own = ownIn(limits, preset);
  if (!own) return [...limits, addedLimit(made, limits)];
  const { title, isNew } = own, isGone = presenceOf(draft, preset) === "present";
  const next = isGone ? { ...own, isRemoved: true } : { ...towards(loadedOf(policy, own), made, own.id), title, isNew };
  return limits.map((limit) => (limit === own ? next : limit)).filter((limit) => !limit.isNew || !limit.isRemoved);
}

/** @param {Api.Policy} policy @param {Filling} preset */
function penaltiesOf({ penalties: { ladder, ...lengths } }, preset) {
  const isServer = (ladder ?? []).every((rung) => rung === "drop" || rung === "none");
  return { ...lengths, ...preset.penalties, ladder: isServer ? ladder : (preset.penalties?.ladder ?? ladder) };
}

/** @param {string} name @param {string[]} taken @returns {string} */
const freeName = (name, taken) => (taken.includes(name) ? freeName(`${name}-2`, taken) : name);
