// @ts-check
// Icons: lines on a grid of 16 × 16, in the colour of the text beside them.

import { html } from "../../vendor/htm-preact.js";

const shield = "M8 1.5l5.5 2v4c0 3.4-2.3 5.8-5.5 7-3.2-1.2-5.5-3.6-5.5-7v-4z";
const circle = "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z";

/** @type {Record<string, string>} */
const paths = {
  pulse: "M1.5 8h3l2-5 3 10 2-5h3",
  sliders: "M2 5h6M12 5h2M2 11h2M8 11h6M10 3a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM6 9a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  people: "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.5.5 2.5 1.8 2.5 3.7",
  list: "M5.5 4H14M5.5 8H14M5.5 12H14M2 4h.01M2 8h.01M2 12h.01",
  history: "M2 8a6 6 0 1 0 1.9-4.4L2 5.2M2 2v3.2h3.2M8 5v3.2l2.2 1.3",
  key: "M10.5 9.5a3.5 3.5 0 1 0-3.3-2.3L2 12.4V14h2.6v-1.7h1.7v-1.7h1.7l.8-.8c.5.2 1.1.3 1.7.3zM11.2 4.8h.01",
  flask: "M6.5 2h3M7 2v4.3L3 13c-.3.6.1 1.2.8 1.2h8.4c.7 0 1.1-.6.8-1.2L9 6.3V2M5 10.5h6",
  nodes: "M8 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM3.5 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM12.5 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM7 5.3l-2.6 4.9M9 5.3l2.6 4.9M5.5 12h5",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6L14 14",
  pause: "M5.5 3v10M10.5 3v10",
  play: "M5 3l8 5-8 5z",
  step: "M4 3l6.5 5L4 13zM12.5 3v10",
  link: "M6.8 9.2a2.8 2.8 0 0 0 4 0l2.4-2.4a2.8 2.8 0 0 0-4-4l-.7.7M9.2 6.8a2.8 2.8 0 0 0-4 0L2.8 9.2a2.8 2.8 0 0 0 4 4l.7-.7",
  raid: shield + "M8 5v3.2M8 10.8h.01",
  exempt: shield + "M5.6 7.8l1.7 1.7 3.1-3.3",
  clock: circle + "M8 4.8V8l2.2 1.4",
  ban: circle + "M3.8 3.8l8.4 8.4",
  undo: "M5.5 3l-3 3 3 3M2.5 6H9a4 4 0 0 1 0 8H6",
  grant: "M2 6h12v2.5H2zM3 8.5V14h10V8.5M8 6v8M8 6C6 6 4.5 5 4.5 3.8 4.5 2 7.5 2 8 6c.5-4 3.5-4 3.5-2.2C11.5 5 10 6 8 6",
  reset: "M14 8a6 6 0 1 1-1.9-4.4L14 5.2M14 2v3.2h-3.2",
  "chevron-down": "M4 6l4 4 4-4",
  "chevron-right": "M6 4l4 4-4 4",
  "external-link": "M6.5 3.5H3V13h9.5V9.5M9.5 2.5h4v4M13.5 2.5l-6 6",
  bell: "M4 7a4 4 0 0 1 8 0c0 3.2 1.5 4 1.5 4h-11S4 10.2 4 7zM6.7 13.5a1.5 1.5 0 0 0 2.6 0",
  sun: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  moon: "M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3z",
  monitor: "M2 3h12v8H2zM6 14h4M8 11v3",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9M6.7 7v4M9.3 7v4",
  grip: "M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01",
  up: "M8 13V3M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  check: "M3 8.5l3.2 3.2L13 5",
  alert: "M8 2l6.5 11.5h-13zM8 6.5v3M8 11.5h.01",
  note: "M3 2.5h10V10l-3.5 3.5H3zM13 10H9.5v3.5M5.5 5.5h5M5.5 8h3",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  message: "M2.5 3h11v8H8l-3 2.8V11H2.5z",
  keyboard: "M1.5 4h13v8h-13zM4 6.7h.01M6.7 6.7h.01M9.3 6.7h.01M12 6.7h.01M5 9.5h6",
  "sign-out": "M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6",
  broadcaster: "M2 4.5h8v7H2zM10 7.2l4-2.2v6l-4-2.2",
  moderator: "M13.5 2.5V5L7.4 11M13.5 2.5H11L5 8.6M13.5 2.5L6 10M3.5 8.2l4.3 4.3M5 11l-2.5 2.5",
  vip: "M4.5 3h7L14 6.5l-6 7-6-7zM2 6.5h12",
  subscriber: "M8 2l1.8 3.8 4.2.5-3.1 2.8.8 4.1L8 11.2l-3.7 2 .8-4.1L2 6.3l4.2-.5z",
  "first-timer": "M8 2c.5 3.5 2.5 5.5 6 6-3.5.5-5.5 2.5-6 6-.5-3.5-2.5-5.5-6-6 3.5-.5 5.5-2.5 6-6z",
};

// Icon is decoration: the text beside it, or its button's aria-label, says what it means.
/** @param {{name: string}} props */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${paths[name]} /></svg>`;
}
