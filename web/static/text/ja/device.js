// @ts-check
// Signing in with Twitch by a code to enter there.

export default {
  // The code, and what to do with it
  asking: "Twitchにコードを要求中…",
  how: "Twitchを開き、このコードが表示されていることを確認して承認してください。chatguardには、あなたのアカウントとモデレーターを務めるチャンネルだけが伝わります。",
  "copy-code": "コードをコピー",
  open: "Twitchを開く",
  waiting: "Twitchを待っています。コードはあと{time}有効です。",
  again: "新しいコードを取得",
  cancel: "キャンセル",
};
