import assert from "node:assert/strict";
import test from "node:test";
import "../list-algorithms.js";
import { draftOf, isDirty, policyOf } from "../static/app/limits/draft.js";
import { errorsOf } from "../static/app/limits/draft-errors.js";
import { presenceOf, presets, samePresets, withPreset } from "../static/app/limits/presets.js";
import { briefOf, ruleOf } from "../static/app/words/rules.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules", "limits");

const total = { name: "total", algorithm: "user-window", messages: 1000, every: "24h", per: "user-everywhere" };
const policy = (news = {}) => ({
  roles: ["moderator", "vip", "subscriber", "first_timer"], mode: "observe", timezone: "Europe/Berlin", exempt: ["moderator", "vip"], exempt_messages: ["bits"],
  limits: [{ name: "slow", algorithm: "leaky-bucket", every: "2s", queue: 3 }, total, { name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s", mode: "observe", roles: { vip: { burst: 5 } } }],
  penalties: { ladder: ["delete"], strike_every: "1s", forget_after: "1h" },
  ...news,
});

// filled returns the policy and the draft after a preset.
function filled(preset, loaded = policy()) {
  const draft = withPreset({ policy: loaded, draft: draftOf(loaded) }, preset);
  return { draft, wanted: policyOf({ policy: loaded, draft }), errors: errorsOf({ policy: loaded, draft }) };
}

test("presets: replace limits and penalties, and keep the rest", () => {
  for (const preset of presets()) {
    const { wanted, errors } = filled(preset);
    assert.deepEqual(errors, {});
    assert.deepEqual(wanted, { ...policy(), limits: [...preset.limits, total], penalties: preset.penalties });
  }
});

test("presets: only roles of the policy have numbers", () => {
  const { wanted } = filled(presets()[0], policy({ roles: ["moderator", "vip"] }));
  assert.deepEqual(wanted.limits.flatMap((limit) => Object.keys(limit.roles ?? {})).filter((role) => role !== "vip"), []);
});

test("presets: keep what is being edited elsewhere", () => {
  const loaded = policy();
  const draft = { ...draftOf(loaded), mode: "enforce", timezone: "UTC", exempt: [] };
  const { mode, timezone, exempt } = withPreset({ policy: loaded, draft }, presets()[0]);
  assert.deepEqual([mode, timezone, exempt], ["enforce", "UTC", []]);
});

test("presets: removed limits can be kept, and known ones are not new", () => {
  const { draft } = filled(presets()[0]);
  assert.deepEqual(draft.limits.map(({ name, isNew, isRemoved }) => `${name} ${isNew} ${isRemoved}`), ["burst false false", "daily true false", "total false false", "slow false true"]);
});

test("presets: choosing one again changes nothing", () => {
  const { wanted } = filled(presets()[2]);
  const { draft } = filled(presets()[2], wanted);
  assert.equal(isDirty({ policy: wanted, draft }), false);
});

test("presets: a name that a limit of all channels has is not used again", () => {
  const { wanted } = filled(presets()[0], policy({ limits: [{ ...total, name: "burst" }] }));
  assert.deepEqual(wanted.limits.map(({ name }) => name), ["burst-2", "daily", "burst"]);
});

test("presets: a chat server's ladder stays", () => {
  for (const ladder of [[], ["drop"], ["none", "drop"]]) {
    const { wanted } = filled(presets()[1], policy({ penalties: { ...policy().penalties, ladder } }));
    assert.deepEqual(wanted.penalties, { ...presets()[1].penalties, ladder });
  }
});

test("presets: rules in words", () => {
  const rules = presets().map(({ limits }) => limits.map((limit) => ruleOf(limit, "")));
  assert.deepEqual(rules[0], ["5 messages, then one every 2 seconds", "1,000 messages a day, until midnight UTC"]);
  assert.equal(rules[2][2], "About 300 messages in any minute");
  assert.deepEqual(presets()[0].limits.map(briefOf), ["5 messages, then one every 2 seconds", "1,000 messages a day"]);
  assert.equal(briefOf(total), "1,000 messages in 1 day");
});

test("presets: a limit on repeated messages is added to the others", () => {
  const [noRepeats, copyPaste] = samePresets();
  const loaded = policy();
  const { draft } = filled(noRepeats), both = withPreset({ policy: loaded, draft }, copyPaste);
  const wanted = policyOf({ policy: loaded, draft: both });
  assert.deepEqual(wanted, { ...policy(), limits: [...policy().limits, ...noRepeats.limits, ...copyPaste.limits] });
  assert.deepEqual(errorsOf({ policy: loaded, draft: both }), {});
  assert.deepEqual([...noRepeats.limits, ...copyPaste.limits].map((limit) => ruleOf(limit, "")), ["The same message once in any 30 seconds", "The same message 3 times in any 30 seconds"]);
  const once = policyOf({ policy: loaded, draft: withPreset({ policy: loaded, draft: both }, copyPaste) });
  assert.deepEqual(once.limits, [...policy().limits, ...noRepeats.limits], "twice is as never");
});

const repeats = (news = {}) => ({ ...samePresets()[0].limits[0], ...news });

test("presets: limits on repeated messages stay, as they are in the draft", () => {
  const burst = { name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s", per: "text" };
  const loaded = policy({ limits: [repeats({ messages: 4 }), burst, { ...burst, name: "gone" }] });
  const draft = draftOf(loaded), add = (preset, draft) => withPreset({ policy: loaded, draft }, preset);
  draft.limits[0].texts.messages = "5";
  draft.limits[1].name = "copies";
  draft.limits[2].isRemoved = true;
  const filled = add(presets()[0], add(samePresets()[1], draft));
  assert.deepEqual(filled.limits.map(({ id, name, isRemoved }) => `${id}, ${name}, ${isRemoved}`), ["new burst-2, burst-2, false", "new daily, daily, false", "0, no-repeats, false", "1, copies, false", "2, gone, true", "new copy-paste, copy-paste, false"]);
  assert.equal(policyOf({ policy: loaded, draft: filled }).limits[2].messages, 5);
});

test("presets: one on repeated messages knows its limit", () => {
  const [noRepeats, copyPaste] = samePresets();
  const present = (...limits) => samePresets().map((preset) => presenceOf(draftOf(policy({ limits })), preset)).join();
  assert.equal(present(repeats(), ...copyPaste.limits), "present,present");
  assert.equal(present(repeats({ name: "mine", title: "Again!", from_length: 12 })), "present,absent");
  for (const news of [{ messages: 2 }, { from_length: 20 }, { similar: false }, { count_emotes: true }, { mode: "observe" }, { roles: { vip: { messages: 3 } } }, { count_throttled: true }, { algorithm: "fixed-window" }]) {
    assert.equal(present(repeats(news)), "changed,absent", JSON.stringify(news));
  }
  assert.equal(present({ name: "no-repeats", algorithm: "token-bucket", burst: 3, refill: "4s" }), "absent,absent");
  const typed = draftOf(policy({ limits: [repeats()] }));
  typed.limits[0].texts.every = "0.5 min";
  assert.equal(presenceOf(typed, noRepeats), "present", "half a minute is 30 s");
});

test("presets: one on repeated messages resets its limit, and leaves others of its name alone", () => {
  const [noRepeats] = samePresets();
  const own = repeats({ messages: 9, every: "1h", from_length: 40, title: "Again!" }), other = { name: "no-repeats", algorithm: "token-bucket", burst: 3, refill: "4s" };
  assert.deepEqual(filled(noRepeats, policy({ limits: [own] })).wanted.limits, [repeats({ from_length: 12, title: "Again!" })]);
  const { draft, errors, wanted } = filled(noRepeats, policy({ limits: [other] }));
  assert.deepEqual([wanted.limits, errors], [[other, repeats({ name: "no-repeats-2" })], {}]);
  assert.deepEqual([presenceOf(draft, noRepeats), withPreset({ policy: policy({ limits: [other] }), draft }, noRepeats).limits.length], ["present", 1]);
});
