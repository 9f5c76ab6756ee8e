// What has been typed and isn't saved: it is put by when somebody turns to another channel, and taken up again with the channel.
//
// state.drafts has the forms put by, by the ID of their channel.

import { isDirty } from "./draft.js";
import { state } from "./state.js";

const isTyped = (form) => Boolean(form?.policy) && !form.busy && isDirty(form);

// turned returns {form, drafts} as they are once another channel is shown. Its form is null where none was put by.
export function turned(to) {
  const { channel, form, drafts } = state;
  const { [to]: kept = null, ...others } = drafts;
  return { form: kept, drafts: channel && isTyped(form) ? { ...others, [channel]: { ...form, focus: null } } : others };
}

// hasDraft reports whether anything would be lost with the page.
export const hasDraft = () => isTyped(state.form) || Object.keys(state.drafts).length > 0;
