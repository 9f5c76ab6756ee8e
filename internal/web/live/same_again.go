package live

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// SameAgain says when a user may write their last throttled message again, as in the API. Another
// message may pass earlier.
type SameAgain struct {
	Limit      string          `json:"limit"` // on repeated text
	MaySpeakAt time.Time       `json:"may_speak_at"`
	Repeats    journal.Repeats `json:"repeats,omitzero"` // of that message
}

// SameAgain returns when a user with these roles may write their last throttled message again. It
// is nil if no limit on repeated text throttles that message now, or if the message is unknown. It
// is also nil if waiting never helps, because then the reason isn't that the text is the same.
func (m *Model) SameAgain(ctx context.Context, channel, user string, roles chatguard.Roles) *SameAgain {
	r, ok := m.board.find(channel, user)
	if !ok || r.print == nil || r.print.IsZero() {
		return nil
	}
	v, err := m.opts.Guard.Peek(ctx, r.again(roles, m.opts.Guard.Now()))
	if err != nil || v.Allowed || v.Never || !inner.IsText(inner.Of(m.opts.Guard).Per(channel, v.Limit)) {
		return nil
	}
	return &SameAgain{v.Limit, journal.MaySpeakAt(v), r.Repeats}
}
