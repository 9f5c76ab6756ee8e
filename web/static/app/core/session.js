// @ts-check
// Signing in and out.

import { sentences, t } from "../../text/text.js";
import { request } from "./api.js";
import { state, update } from "./state.js";
/** @import { Problem } from "./api.js" */

// signIn posts {code} or {token}, and returns whether signing in succeeded.
/** @param {{code: string} | {token: string}} secret */
export async function signIn(secret) {
  update((s) => (s.signIn = { busy: true, error: "" }));
  try {
    await request("POST", "/session", { body: secret });
    update((s) => (s.signIn = { busy: false, error: "" }));
    return true;
  } catch (problem) {
    update((s) => {
      s.signIn = { busy: false, error: problem.message };
      s.session = "out";
    });
    return false;
  }
}

export async function signOut() {
  update((s) => (s.problem = ""));
  try {
    await request("DELETE", "/session");
    signedOut("");
  } catch (problem) {
    if (ifSignedOut(problem)) return;
    if (await isOut()) signedOut(problem.message); // chatguard has deleted the cookie, if nothing else
    else update((s) => (s.problem = sentences(t("widgets.still-in"), problem.message)));
  }
}

// isOut reports whether chatguard says that this browser isn't signed in.
async function isOut() {
  try {
    await request("GET", "/session");
    return false;
  } catch (problem) {
    return problem.status === 401;
  }
}

// shutOut shows the sign-in page after chatguard has ended the session.
export function shutOut() {
  signedOut(state.me.from === "twitch" ? t("shell.twitch-ended") : t("widgets.signed-out"));
}

// signedOut shows the sign-in page with the reason, and clears everything that needs a session.
/** @param {string} why @param {boolean} [mounted] */
function signedOut(why, mounted = false) {
  update((s) => {
    if (s.session === "in") s.focus = "token";
    s.session = "out";
    s.signIn = { busy: false, error: "", why, mounted };
    s.device = null;
    s.me = { name: "", access: "", author: "" };
    s.problem = s.dialog = "";
    s.users = new Map();
    s.status = s.policy = s.form = s.settings = s.preview = s.history = s.overrides = null;
    s.pressed = s.drafts = s.changes = {};
    s.people = s.journal = s.audit = s.entry = null;
    s.pardons = {};
    s.start = s.connecting = s.nodes = null;
  });
}

// ifSignedOut reports whether the problem means that the session has ended. If so, it shows the
// sign-in page.
/** @param {Problem} problem */
export function ifSignedOut(problem) {
  if (problem.status !== 401) return false;
  if (problem.mounted) signedOut(problem.message, true);
  else if (state.session === "in") shutOut();
  else if (state.session === "unknown") signedOut("");
  return true;
}
