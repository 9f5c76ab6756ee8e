// @ts-check
// Keeping an answer of chatguard about the channel shown up to date, while the page is visible.

import { request } from "../core/api.js";
import { inOrder } from "../core/in-order.js";
import { ifSignedOut } from "../core/session.js";
import { state } from "../core/state.js";

const every = 30_000; // between two requests, ms

// follower returns a function that follows an address below the channel's. Each answer is passed to
// set, with the channel and the query. That function returns another one, which stops the updates.
/** @param {(news: {channel: string, query: string, body: any, problem: string}) => void} set */
export function follower(set) {
  const asked = inOrder(); // to ignore outdated answers
  return (/** @type {string} */ path, /** @type {string} */ query = "") => {
    const { channel } = state;
    if (!channel) return () => {};
    let stopped = false;
    const load = async () => {
      const isNews = asked();
      const news = await fetched(channel, path, query);
      if (news && isNews() && !stopped) set({ channel, query, ...news });
    };
    load();
    const timer = setInterval(() => document.hidden || load(), every);
    return () => {
      stopped = true;
      clearInterval(timer);
    };
  };
}

/**
 * @param {string} channel
 * @param {string} path
 * @param {string} query
 * @returns {Promise<{body: any, problem: string} | null>}
 */
async function fetched(channel, path, query) {
  try {
    const { body } = await request("GET", `/channels/${encodeURIComponent(channel)}/${path}${query}`);
    return { body, problem: "" };
  } catch (problem) {
    if (ifSignedOut(problem) || problem.status === 0) return null; // the header already reports a lost connection
    return { body: null, problem: problem.message };
  }
}
