package faketwitch

// messageKind is how Twitch sends a message that isn't an ordinary one.
type messageKind struct {
	isNotice bool           // USERNOTICE or channel.chat.notification instead of a message
	tags     []string       // further IRC tags
	event    map[string]any // further fields of EventSub's event
	isEmotes bool           // each word of the text is an emote
}

// messageKinds are the kinds that a Line may have. EventSub doesn't report Hype Chats.
var messageKinds = map[string]messageKind{
	"bits":        {tags: []string{"bits=1"}, event: map[string]any{"cheer": map[string]int{"bits": 1}}},
	"power_up":    {tags: []string{"msg-id=animated-message", "animation-id=rainbow-eclipse"}, event: map[string]any{"message_type": "power_ups_message_effect"}},
	"gigantified": {tags: []string{"msg-id=gigantified-emote-message"}, event: map[string]any{"message_type": "power_ups_gigantified_emote"}},
	"hype_chat":   {tags: []string{"pinned-chat-paid-amount=500", "pinned-chat-paid-currency=EUR", "pinned-chat-paid-exponent=2"}},
	"reward": {tags: []string{"custom-reward-id=fa4e7817-7000-4000-8000-000000000001"},
		event: map[string]any{"channel_points_custom_reward_id": "fa4e7817-7000-4000-8000-000000000001"}},
	"sub_only":    {tags: []string{"msg-id=skip-subs-mode-message"}, event: map[string]any{"message_type": "channel_points_sub_only"}},
	"highlighted": {tags: []string{"msg-id=highlighted-message"}, event: map[string]any{"message_type": "channel_points_highlighted"}},
	"emotes":      {isEmotes: true, tags: []string{"emote-only=1"}},
	"resub": {isNotice: true, tags: []string{"msg-id=resub", "msg-param-cumulative-months=12", "system-msg=subscribed\\sfor\\s12\\smonths"},
		event: map[string]any{"notice_type": "resub", "resub": map[string]any{"cumulative_months": 12}}},
	"watch_streak": {isNotice: true, tags: []string{"msg-id=viewermilestone", "msg-param-category=watch-streak", "msg-param-value=5"},
		event: map[string]any{"notice_type": "watch_streak"}},
	"announcement": {isNotice: true, tags: []string{"msg-id=announcement", "msg-param-color=PRIMARY"},
		event: map[string]any{"notice_type": "announcement", "announcement": map[string]any{"color": "PRIMARY"}}},
}
