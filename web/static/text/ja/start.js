// @ts-check
// The first evening: setting chatguard up, connecting the bot, and enforcing the limits.

export default {
  // The checklist: its head, the steps, and how far they are
  title: "はじめに",
  "all-done": "設定完了",
  count: "{done}/{all} 完了",
  hide: "チェックリストを隠す",
  connect: "ボットを接続",
  moderator: "モデレーターにする",
  watch: "制限の効果を確認",
  enforce: "制限を適用",
  todo: "未完了",
  running: "進行中",
  done: "完了",
  failed: "失敗",

  // The checklist: connect the bot
  "connect-about": "チャットを読むだけならアカウントは不要です。メッセージに処置を行うには、チャンネルのモデレーターであるTwitchアカウントが必要です。",
  "connect-it": "接続…",
  "connect-again": "再接続…",
  "connect-other": "別のアカウントを使う…",
  "ask-owner": "このダッシュボードのオーナーに接続を依頼してください。",
  checking: "Twitchがトークンを確認中です。",
  connected: "{account}として接続しました。",
  "connected-instead": "{replaced}の代わりに{account}として接続しました。",

  // The checklist: make it a moderator
  "moderator-later": "ボットを接続すると進めます。",
  "moderator-how": "配信者として、チャンネルのチャットに次のように入力してください:",
  "copy-command": "コマンドをコピー",
  "open-chat": "チャットを開く",
  "moderator-soon": "数秒でchatguardに反映されます。",
  moderates: "{account}はメッセージの削除とユーザーのタイムアウトができます。",

  // The checklist: watch
  watching: { other: "{time}から監視中: メッセージ{n}件。" },
  "watching-would": { other: "{time}から監視中: メッセージ{n}件、抑制相当{observed}件。" },
  "see-limits": "制限を見る",

  // The checklist: enforce
  "enforce-later": "ボットがモデレーターになると進めます。それまでは誰も抑制されません。",
  observes: "まだ誰も抑制されません: chatguardは監視のみです。",
  "enforce-open": "適用…",
  "enforce-question": "今後、制限を超えたメッセージは削除され、繰り返すユーザーは警告またはタイムアウトされます。「制限」ページでいつでも元に戻せます。今すぐ適用しますか？",
  "enforce-it": "適用",
  "not-yet": "まだしない",
  "enforced-said": "制限を適用しました。",
  enforced: "制限を超えたメッセージに処置を行います。",
  "enforced-later": "オンです。ボットがモデレーターになると、chatguardが処置を始めます。",

  // The dialog that connects the bot
  asking: "Twitchにコードを要求中…",
  "new-code": "新しいコードを取得",
  continue: "続ける",
  "open-how": "{account}でログインしているTwitchを、ここで、またはスマートフォンでQRコードから開いてください。このコードが表示されていることを確認し、承認します。",
  "open-account": "ボットのアカウント",
  "copy-code": "コードをコピー",
  "open-twitch": "Twitchを開く",
  qr: "TwitchのページのQRコード",
  waiting: "Twitchを待っています。コードはあと{time}有効です。",
  "bot-about": "承認したアカウントがボットになります。自分のアカウントも使えます: その場合、モデレーターにする必要はありません。",
  "wrong-account": "アカウントを間違えましたか？ Twitchからログアウトし、正しいアカウントでログインしてから、もう一度接続してください。",
  "connect-another": "別のアカウントを接続",

  // The guide to a client ID. Create, Manage and Client ID are words of a page that is in English.
  "client-about": "chatguardはあなた自身のTwitchアプリケーションを使います。無料で、IDは秘密ではなく、必要なのは1回だけです。",
  "client-open": "Twitchで{page}を開いてください。二要素認証を設定していれば、どのアカウントでもかまいません。",
  "client-fill": "フォームに入力し、「Create」を押してください:",
  "client-name": "まだ使われていない名前（例: 「chatguard of YOURCHANNEL」）",
  "copy-field": "{field}をコピー",
  "client-copy": "名前の横の「Manage」を押し、「Client ID」をコピーしてください。",
  "client-id": "クライアントID",
  "wrong-client": "クライアントIDは英数字だけで、通常は30文字です。もう一度コピーしてください。",

  // The setup page
  "first-about": "chatguardはまずチャンネルを監視します。あなたが決めるまで、誰も抑制されません。",
  channel: "Twitchチャンネル",
  "channel-hint": "yourchannel または twitch.tv/yourchannel",
  "wrong-channel": "twitch.tv/nameのチャンネル名を入力してください: 25文字以内の英数字と_です。",
  zone: "タイムゾーン",
  "zone-about": "1日の制限は、このタイムゾーンの午前0時にリセットされます。",
  "wrong-zone": "タイムゾーンを入力してください（例: Asia/Tokyo）。",
  application: "Twitchアプリケーション",
  "application-optional": "任意、後からでも可",
  "application-about": "メッセージに処置を行うには、あなた自身のTwitchアプリケーションのクライアントIDが必要です。無料で、秘密ではありません。",
  begin: "監視を開始",
  starting: "開始中…",
  writes: "chatguardを起動したフォルダーにchatguard.tomlを書き込みます。",
};
