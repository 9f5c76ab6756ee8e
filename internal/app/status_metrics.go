package app

import (
	"cmp"
	"fmt"
	"io"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/web/live"
)

// register registers the metrics of the bot and of its connection to Twitch.
func (s *status) register(set *metrics.Set) {
	set.RegisterMetricsWriter(func(w io.Writer) {
		s.writeConnections(w)
		chat := s.twitch.Status()
		for _, c := range chat.Channels {
			id := cmp.Or(c.RoomID, s.directory.id(c.Login))
			writeGauge(w, "channel_read"+live.ChannelLabels(id, c.Login), c.Joined)
		}
		fmt.Fprintf(w, "chatguard_chat_lines_total %d\n", chat.Lines)
		fmt.Fprintf(w, "chatguard_chat_dropped_lines_total %d\n", chat.Dropped)
		fmt.Fprintf(w, "chatguard_chat_reconnects_total %d\n", chat.Reconnects)
		fmt.Fprintf(w, "chatguard_pending_penalties %d\n", s.bot.Pending())
		took := s.bot.Durations()
		took.LineToVerdict.Write(w, "chatguard_line_to_verdict_seconds")
		took.VerdictToRequest.Write(w, "chatguard_verdict_to_request_seconds")
		if client := s.twitch.Helix(); client != nil {
			client.Durations().Write(w, "chatguard_request_to_answer_seconds")
		}
	})
}

// writeGauge writes a metric that is 1 if value is true, and otherwise 0.
func writeGauge(w io.Writer, name string, value bool) {
	number := 0
	if value {
		number = 1
	}
	fmt.Fprintf(w, "chatguard_%s %d\n", name, number)
}

// writeConnections writes the state of the connections and of the token.
func (s *status) writeConnections(w io.Writer) {
	write := func(name string, value bool) { writeGauge(w, name, value) }
	write(`connected{connection="chat"}`, s.twitch.Status().State == twitch.Connected)
	if helix, ok := helixState(s.twitch.Helix()); ok {
		write(`connected{connection="helix"}`, !helix.State.IsTrouble())
		fmt.Fprintf(w, "chatguard_helix_requests_remaining %d\n", s.twitch.Helix().Left(0))
	}
	if s.twitch.Tokens() == nil {
		return
	}
	if token, ok := tokenState(s.twitch); ok {
		write("token_valid", token.State == live.Valid)
	}
	if known := s.twitch.Tokens().Status(); !known.ExpiresAt.IsZero() {
		write("token_renewable", known.Renewable)
		fmt.Fprintf(w, "chatguard_token_expiry_timestamp_seconds %d\n", known.ExpiresAt.Unix())
	}
}
