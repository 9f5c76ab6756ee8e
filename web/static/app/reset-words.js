// The question before a user is reset.

import { html } from "../vendor/htm-preact.js";

export const ResetWords = ({ name }) => html`Reset <bdi>${name}</bdi>? Everything they have used is forgotten, and so are their strikes.`;
