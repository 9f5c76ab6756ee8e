package helix

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/hostile"
)

// maxText is the maximum length of a chat message, in characters.
const maxText = 500

// SendMessage sends text to a channel as the token's user. If replyTo is a message ID, the text is
// a reply to that message.
//
// The message is sent at once. If the request budget has no room, it isn't sent, and the error is
// ErrBusy. SendMessage doesn't retry if Twitch doesn't answer, because the message may already be
// visible. If the message to reply to is gone, the error is chat.ErrNoParent. If Twitch accepts the
// message but doesn't show it, the error is ErrDropped. If the text isn't one line of 1 to 500
// characters, as hostile.OneLine returns it, the error is ErrUnsafe.
func (h *Client) SendMessage(ctx context.Context, broadcasterID, senderID, text, replyTo string) error {
	type message struct {
		BroadcasterID string `json:"broadcaster_id"`
		SenderID      string `json:"sender_id"`
		Text          string `json:"message"`
		ReplyTo       string `json:"reply_parent_message_id,omitempty"`
	}
	r := request{
		Request: api.Request{
			Op:     "say something",
			Method: http.MethodPost,
			URL:    "/chat/messages",
			Body:   message{broadcasterID, senderID, text, replyTo},
		},
		sending: sending{once: true, essential: true},
	}
	if err := r.checkIDs("broadcaster", broadcasterID, "sender", senderID); err != nil {
		return err
	}
	if text == "" || text != hostile.OneLine(text, maxText) {
		return fmt.Errorf("%s: %w: the message is not one line of 1 to %d characters", r.Op, twitch.ErrUnsafe, maxText)
	}
	var told struct {
		Data []sendResult `json:"data"`
	}
	a, err := h.do(ctx, r)
	switch {
	case err != nil:
		return err
	case replyTo != "" && a.Status == http.StatusBadRequest && strings.Contains(strings.ToLower(a.Says()), "repl"):
		return r.Refused(chat.ErrNoParent, a)
	case !a.OK():
		return r.Refused(twitch.ErrRejected, a)
	}
	if err := r.Decode(a, &told); err != nil {
		return err
	}
	if len(told.Data) != 1 {
		return fmt.Errorf("%s: %w (its answer has %d messages)", r.Op, twitch.ErrRejected, len(told.Data))
	}
	return told.Data[0].err(r)
}

// sendResult is Twitch's answer about a chat message.
type sendResult struct {
	Shown  bool `json:"is_sent"`
	Reason struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"drop_reason"`
}

func (s sendResult) err(r request) error {
	if s.Shown {
		return nil
	}
	return fmt.Errorf("%s: %w (%s)", r.Op, ErrDropped, hostile.Detail(s.Reason.Code+": "+s.Reason.Message))
}
