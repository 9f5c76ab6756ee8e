// @ts-check
// The overlay for streams.

export default {
  throttled: { other: "抑制中{n}人" },
  "would-be": { other: "抑制相当{n}人" },
  paused: "一時停止中",
  "raid-left": "レイド中 {left}",

  wrong: "{name}={value}は使えません: {wanted}",
  "wrong-unknown": "{name}という設定はありません。使える設定は{names}です。",
  "wanted-number": "{least}〜{most}の数を使ってください。",
  "wanted-color": "ffffffのような色、または不透明度を付けた00000080のような色を使ってください。",
  "wanted-color-or-none": "ffffffのような色、不透明度を付けた00000080のような色、またはnoneを使ってください。",
  "wanted-choice": "{choices}のいずれかを使ってください。",
  "wanted-choices": "{choices}の中からカンマ区切りで指定してください。",
  "wanted-ids": "ユーザーIDを最大{most}個、カンマ区切りで指定してください。",

  "no-token": "アドレスにトークンがありません。「管理」ページでトークン付きのアドレスを作れます。",
  revoked: "トークンが取り消されたか、期限切れです。「管理」ページで新しいアドレスを作れます。",
  forbidden: "このトークンは、このチャンネルのオーバーレイには使えません。",
  "no-channel": "このチャンネルはここでは扱っていません。",
};
