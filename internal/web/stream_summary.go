package web

import (
	"context"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/webhook"
)

// StreamSummary sums up a stream that has ended, as the dashboard does.
func (s *Server) StreamSummary(ctx context.Context, stream journal.Stream) (webhook.StreamSummary, error) {
	sum, err := s.summarizer.sumUp(ctx, stream.ChannelID, "stream", spanOf(stream))
	if err != nil {
		return webhook.StreamSummary{}, err
	}
	short := webhook.StreamSummary{
		From: sum.From, Until: sum.Until,
		ThrottledUsers: sum.Throttled.Users, Throttled: sum.Throttled.Messages, Observed: sum.Throttled.Observed,
		TimedOut: sum.Throttled.TimedOut, Banned: sum.Throttled.Banned, Pardoned: sum.Pardoned, Top: []webhook.TopUser{},
	}
	if sum.Recorded != nil {
		short.Messages, short.Users = &sum.Recorded.Messages, &sum.Recorded.Users
	}
	for _, u := range sum.Throttled.Top {
		if len(short.Top) < webhook.MaxTop && u.Throttled > 0 {
			short.Top = append(short.Top, webhook.TopUser{UserID: u.UserID, Login: u.Login, Throttled: u.Throttled})
		}
	}
	return short, nil
}
