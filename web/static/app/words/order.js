// @ts-check
// The order of limits as a change of its own, and changes that come from a renamed limit. The order
// has the key "order" in revisions too; internal/control follows the same rules.

export const orderKey = "order";

// orderChange returns the change of the order, or none. The other changes remove limits, and append
// new ones by name. The order is a change of its own only if it differs from what they result in.
/** @param {string[]} from @param {string[]} to @returns {Api.Change[]} */
export function orderChange(from, to) {
  const expected = [...from.filter((name) => to.includes(name)), ...to.filter((name) => !from.includes(name)).sort()];
  return isSame(expected, to) ? [] : [{ key: orderKey, from, to }];
}

// inOrder returns the names with those that wanted contains in its order. All others keep their
// places.
/** @param {string[]} names @param {string[]} wanted */
export function inOrder(names, wanted) {
  const left = wanted.filter((name) => names.includes(name));
  return names.map((name) => (left.length > 0 && wanted.includes(name) ? left.shift() : name));
}

/** @param {unknown} a @param {unknown} b */
const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** @typedef {{from: string, to: string}} Rename */

// renamesIn returns the limits that the changes remove under one name and add under another: with
// the same settings, or at the same place with the same algorithm.
/** @param {Api.Change[]} changes @returns {Rename[]} */
export function renamesIn(changes) {
  const gone = settingsOf(changes, "from"), added = settingsOf(changes, "to");
  /** @type {{from: any, to: any} | undefined} */
  const order = changes.find(({ key }) => key === orderKey);
  /** @type {Rename[]} */
  const renames = [];
  for (const [from, before] of gone) {
    const place = order?.from.indexOf(from) ?? -1;
    const rivals = [...added].filter(([to, after]) => !renames.some((other) => other.to === to) && after.algorithm === before.algorithm);
    const found = rivals.find(([to]) => place >= 0 && order.to[place] === to) ?? rivals.find(([, after]) => isSame(sorted(before), sorted(after)));
    if (found) renames.push({ from, to: found[0] });
  }
  return renames;
}

// settingsOf returns the settings of the limits that are removed (side "from") or added ("to"), by
// name.
/** @param {Api.Change[]} changes @param {"from" | "to"} side */
function settingsOf(changes, side) {
  const other = side === "from" ? "to" : "from";
  /** @type {Map<string, Record<string, unknown>>} */
  const settings = new Map();
  const isWhole = changes.filter(({ key, [other]: none }) => /^limit\.[^.]+\.algorithm$/.test(key) && none === null);
  for (const { key } of isWhole) settings.set(key.split(".")[1], {});
  for (const { key, [side]: value } of changes) {
    const [root, name, ...field] = key.split(".");
    if (root === "limit" && settings.has(name) && value !== null) settings.get(name)[field.join(".")] = value;
  }
  return settings;
}

/** @param {Record<string, unknown>} settings */
const sorted = (settings) => Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));

// asRenamed returns the changes as if the limits had been renamed before: only what else has
// changed in them is left.
/** @param {Api.Change[]} changes @param {Rename[]} renames @returns {Api.Change[]} */
export function asRenamed(changes, renames) {
  const now = new Map(renames.map(({ from, to }) => [from, to]));
  /** @type {Map<string, Api.Change>} */
  const joined = new Map();
  for (const { key, from, to } of changes) {
    if (key === orderKey) {
      for (const change of orderChange(/** @type {string[]} */ (from).map((name) => now.get(name) ?? name), /** @type {any} */ (to))) joined.set(key, change);
      continue;
    }
    const [root, name, ...field] = key.split(".");
    const renamed = root === "limit" && now.has(name) ? [root, now.get(name), ...field].join(".") : key;
    const { from: was = null, to: is = null } = joined.get(renamed) ?? {};
    joined.set(renamed, { key: renamed, from: from ?? was, to: to ?? is });
  }
  return [...joined.values()].filter((change) => !isSame(change.from, change.to));
}
