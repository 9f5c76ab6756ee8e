package twitch

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode"
)

// maxText is how many characters a chat message may have.
const maxText = 500

// SendMessage says something in a channel, in the name of the token's user, in answer to a message where replyTo is its ID. The text is cut to 500
// characters; line breaks and the like in it become blanks.
//
// It is sent at once or, where the request budget has no room, not at all, which is an ErrBusy. It is never sent twice: where Twitch gives no answer,
// nobody knows whether the message can be seen. A message that Twitch took but doesn't show is an ErrDropped, one without any text an ErrUnsafe.
func (h *Helix) SendMessage(ctx context.Context, broadcasterID, senderID, text, replyTo string) error {
	type message struct {
		BroadcasterID string `json:"broadcaster_id"`
		SenderID      string `json:"sender_id"`
		Text          string `json:"message"`
		ReplyTo       string `json:"reply_parent_message_id,omitempty"`
	}
	text = chatLine(text)
	r := request{
		op: "say something", method: http.MethodPost, url: h.baseURL() + "/chat/messages", once: true, essential: true, forbidden: ErrRejected,
		body: message{broadcasterID, senderID, text, replyTo},
	}
	if err := r.needs("broadcaster", broadcasterID, "sender", senderID); err != nil {
		return err
	}
	if text == "" {
		return fmt.Errorf("%s: %w: the message holds no text", r.op, ErrUnsafe)
	}
	var told struct {
		Data []sent `json:"data"`
	}
	if err := h.ask(ctx, r, &told); err != nil {
		return err
	}
	if len(told.Data) != 1 {
		return fmt.Errorf("%s: %w (it told about %d messages)", r.op, ErrRejected, len(told.Data))
	}
	return told.Data[0].err(r)
}

// sent is what became of a chat message.
type sent struct {
	Shown  bool `json:"is_sent"`
	Reason struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"drop_reason"`
}

func (s sent) err(r request) error {
	if s.Shown {
		return nil
	}
	return fmt.Errorf("%s: %w (%s)", r.op, ErrDropped, oneLine(s.Reason.Code+": "+s.Reason.Message))
}

// chatLine makes a text fit to be a chat message.
func chatLine(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	return strings.TrimSpace(cut(strings.TrimSpace(text), maxText))
}
