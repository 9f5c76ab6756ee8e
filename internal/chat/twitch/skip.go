package twitch

import "errors"

// SkipReason says why a line or frame is skipped. It is an error for use with errors.Is.
type SkipReason string

// Reasons to skip a line or frame.
const (
	Malformed   SkipReason = "malformed line"
	TooLong     SkipReason = "line too long"
	InvalidUTF8 SkipReason = "invalid UTF-8"
	NoUserID    SkipReason = "no user-id"
	NoRoomID    SkipReason = "no room-id"
	NoMessageID SkipReason = "no message id"
)

// Error returns the reason.
func (r SkipReason) Error() string { return string(r) }

func skipReason(err error) SkipReason {
	reason := Malformed
	errors.As(err, &reason)
	return reason
}

// Skip counts a line or frame that is skipped. The first one for each reason is also logged.
func (r *Report) Skip(reason error) {
	first := false
	r.Note(func(s *Status) {
		s.Skipped[skipReason(reason)]++
		first = s.Skipped[skipReason(reason)] == 1
	})
	if first {
		r.Log.Warn("twitch chat: a line was skipped; more like it are only counted", "reason", reason)
	}
}
