package reports

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/webhook"
)

const (
	// streamNews is how long after its end a stream is still reported, after a restart for example.
	streamNews = 12 * time.Hour
	// reportedStream is the setting of a channel with the start of the last stream whose end was
	// reported.
	reportedStream = "reported_stream"
	// summaryTime is the maximum time for summing up a stream.
	summaryTime = time.Minute
)

// RestoreStreams notes the last stream of each channel before the start, unless its end was
// reported. recorded has the newest stream first.
func (r *Reporter) RestoreStreams(recorded []journal.Stream, settings map[string]map[string]string) {
	seen := map[string]bool{}
	for _, s := range recorded {
		if !seen[s.ChannelID] && settings[s.ChannelID][reportedStream] != streamMark(s) {
			r.NoteStream(s)
		}
		seen[s.ChannelID] = true
	}
}

func streamMark(s journal.Stream) string { return s.Start.UTC().Format(time.RFC3339) }

// NoteStream notes the last stream of a channel.
func (r *Reporter) NoteStream(s journal.Stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams[s.ChannelID] = s
}

// reportStreams reports the streams that have ended.
func (r *Reporter) reportStreams(ctx context.Context, now time.Time) {
	for _, s := range r.ended(now) {
		if !r.options.Webhooks.Wants(webhook.Summary) || now.Sub(s.Seen) > streamNews {
			r.forget(s)
			continue
		}
		if r.acts(s.ChannelID, false) && !r.reportStream(ctx, s) {
			continue // try again
		}
		r.forget(s)
		storing, cancel := context.WithTimeout(ctx, summaryTime)
		_, err := r.options.Store.SaveSetting(storing, s.ChannelID, reportedStream, streamMark(s))
		cancel()
		if err != nil {
			r.options.Log.Warn("after a restart, webhooks may be told again that a stream has ended", "channel", s.ChannelID, "error", err)
		}
	}
}

// ended returns the streams that have ended and aren't reported yet.
func (r *Reporter) ended(now time.Time) (list []journal.Stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.streams {
		if s.Ended && now.Sub(s.Seen) > r.options.StreamOver {
			list = append(list, s)
		}
	}
	return list
}

// forget removes a stream, unless a newer one has begun.
func (r *Reporter) forget(s journal.Stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.streams[s.ChannelID].Start.Equal(s.Start) {
		delete(r.streams, s.ChannelID)
	}
}

// reportStream reports the end of a stream. It returns false if the records can't be read now.
func (r *Reporter) reportStream(ctx context.Context, s journal.Stream) bool {
	ctx, cancel := context.WithTimeout(ctx, summaryTime)
	defer cancel()
	sum, err := r.options.Summary(ctx, s)
	if err != nil {
		r.options.Log.Warn("a stream that has ended can't be summed up for webhooks now", "channel", s.ChannelID, "error", err)
		return false
	}
	r.send(s.ChannelID, webhook.Event{Kind: webhook.Summary, Summary: &sum})
	return true
}
