// @ts-check
// Keeping an answer of chatguard up to date, while the page is visible.

import { request } from "./api.js";
import { inOrder } from "./in-order.js";
import { ifSignedOut } from "./session.js";
import { state } from "./state.js";

/** @typedef {{body: any, problem: string}} News */

// follow asks for an address now, and again after each period in ms. It passes each answer to set,
// and returns a function that stops the updates.
/** @param {string} address @param {number} every @param {(news: News) => void} set */
export function follow(address, every, set) {
  const asked = inOrder(); // to ignore outdated answers
  let stopped = false;
  const load = async () => {
    const isNews = asked();
    const news = await fetched(address);
    if (news && isNews() && !stopped) set(news);
  };
  load();
  const timer = setInterval(() => document.hidden || load(), every);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

/** @param {string} address @returns {Promise<News | null>} */
async function fetched(address) {
  try {
    const { body } = await request("GET", address);
    return { body, problem: "" };
  } catch (problem) {
    if (ifSignedOut(problem) || problem.status === 0) return null; // the header already reports a lost connection
    return { body: null, problem: problem.message };
  }
}

const every = 30_000; // between two requests about a channel, ms

// follower returns a function that follows an address below the channel's, as follow does. Each
// answer is passed to set, with the channel and the query.
/** @param {(news: {channel: string, query: string} & News) => void} set */
export function follower(set) {
  return (/** @type {string} */ path, /** @type {string} */ query = "") => {
    const { channel } = state;
    if (!channel) return () => {};
    return follow(`/channels/${encodeURIComponent(channel)}/${path}${query}`, every, (news) => set({ channel, query, ...news }));
  };
}
