// @ts-check
// The page for viewers: when they may write again, and why.

export default {
  title: "{channel}でのあなたの投稿",
  "title-signed-out": "次はいつ投稿できますか？",
  "sign-in-about": "Twitchでログインすると、次に投稿できる時刻と残りの件数が分かります。Twitchから伝わるのはあなたのアカウントだけで、何も保存されません。",
  "sign-in": "Twitchでログイン",
  "no-sign-in": "ここではTwitchでのログインが設定されていません。",
  "sign-out": "ログアウト",
  "signed-in-as": "{name}としてログイン中",
  "nobody-else": "これはあなたにだけ表示されます。時刻は{zone}です。",

  free: "今投稿できます。",
  "again-in": "投稿できるまであと",
  "again-at": "{time}に投稿できます。",
  "again-at-said": "次は{time}に投稿できます。",
  "timed-out": "{time}までタイムアウト中です。",
  banned: "このチャットからBANされています。",
  busy: "チャットが混み合っています。少し待ってからもう一度試してください。",
  never: "制限{limit}ではメッセージを送れません。待っても変わりません。",

  "why-limit": "制限{limit}を使い切りました: {rule}",
  "rule-bucket": { other: "一度に{n}件、その後は{step}ごとに1件です。" },
  "rule-day": { other: "1日{n}件です。" },
  "rule-window": { other: "{window}に{n}件です。" },
  "rule-cascade": "一度に数件、その後は時々1件です。",
  "why-busy": "今は多くの人が書き込んでいて、全員で1つの制限を共有しています。",
  "why-timeout": "タイムアウト中はTwitchで投稿できません。待つだけで解除されます。",
  "why-ban": "BANを解除できるのは、チャンネルのモデレーターだけです。",

  exempt: "ここではあなたに制限はありません。",
  observing: "現在、制限は監視のみです: 誰も抑制されません。",
  raid: "{time}までレイドモードです。一時的に制限が厳しくなっています。",

  left: "残りの件数",
  "left-of": "残り{n}/{capacity}件",
  granted: { other: "追加{n}件を含む" },
  "full-again": "{time}に全回復",
  everywhere: "全チャンネル合計",

  away: "chatguardが応答しません。再試行中です。",
  "too-often": "リクエストが多すぎます。まもなく再試行します。",
};
