package twitchbot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/journal"
)

const (
	// StreamGap is the longest interruption within a stream. It is also the time for which an
	// answer of Twitch is valid.
	StreamGap = 10 * time.Minute
	// streamDelay is how long streams wait for further channels before Twitch is asked.
	streamDelay = time.Second
)

// streams record which channels are live, and since when. They ask Twitch each minute. EventSub
// would report changes sooner, but its subscriptions would use up part of a token's maximum cost of
// ten.
type streams struct {
	log      *slog.Logger
	tokens   *token.Store // nil if chatguard only reads
	helix    *helix.Client
	channels func() []string // IDs of the channels that are read
	now      func() time.Time
	note     func(journal.Stream) // receives each change; nil means no calls
	due      chan struct{}        // holds a value if there is a new channel or token

	mu       sync.Mutex
	last     map[string]journal.Stream // by channel: the running stream, or the last one
	answered map[string]time.Time      // by channel: time of Twitch's last answer
}

func newStreams(log *slog.Logger, now func() time.Time, note func(journal.Stream)) *streams {
	return &streams{log: log, now: now, note: note, due: make(chan struct{}, 1), last: map[string]journal.Stream{}, answered: map[string]time.Time{}}
}

// RestoreStreams sets the streams that were recorded before the start, newest first.
func (t *Connection) RestoreStreams(recorded []journal.Stream) {
	t.streams.mu.Lock()
	defer t.streams.mu.Unlock()
	for _, s := range recorded {
		if _, newer := t.streams.last[s.ChannelID]; !newer {
			t.streams.last[s.ChannelID] = s
		}
	}
}

// LiveSince returns when the channel's running stream began, or the zero time if it isn't live.
// known is false if Twitch hasn't answered that recently, for example because there is no token.
func (t *Connection) LiveSince(channelID string) (since time.Time, known bool) {
	s := t.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	at, asked := s.answered[channelID]
	if !asked || s.now().Sub(at) > StreamGap {
		return time.Time{}, false
	}
	if last := s.last[channelID]; !last.Ended {
		since = last.Start
	}
	return since, true
}

// recheck makes run ask Twitch soon. It never blocks.
func (s *streams) recheck() { chat.WakeUp(s.due) }

// run asks Twitch each minute, and soon after a new channel or token.
func (s *streams) run(ctx context.Context) error {
	again := time.NewTicker(AskEvery)
	defer again.Stop()
	for {
		select {
		case <-s.due:
			select {
			case <-time.After(streamDelay):
			case <-ctx.Done():
			}
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
		s.ask(ctx)
	}
}

// ask asks Twitch which channels are live.
func (s *streams) ask(ctx context.Context) {
	ids := s.channels()
	if len(ids) == 0 || s.tokens.Status().State != token.Good {
		return
	}
	ctx, stop := context.WithTimeout(ctx, AskEvery)
	defer stop()
	began, err := s.helix.LiveChannels(ctx, ids...)
	if err != nil {
		s.log.Debug("can't ask Twitch which channels are live", "error", err)
		return
	}
	for _, id := range ids {
		start, isLive := began[id]
		s.update(id, start, isLive)
	}
}

// update records Twitch's answer about a channel.
func (s *streams) update(id string, start time.Time, isLive bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.answered[id] = now
	last, known := s.last[id]
	isSame := known && start.Sub(last.Seen) <= StreamGap
	if known && !last.Ended && !(isLive && isSame) {
		last.Ended = true
		s.set(last)
	}
	switch {
	case isLive && isSame:
		last.Seen, last.Ended = now, false
		s.set(last)
	case isLive:
		if start.IsZero() || start.After(now) {
			start = now
		}
		s.set(journal.Stream{ChannelID: id, Start: start.UTC(), Seen: now.UTC()})
	}
}

// set records the state of a channel's last stream. The caller holds mu.
func (s *streams) set(stream journal.Stream) {
	s.last[stream.ChannelID] = stream
	if s.note != nil {
		s.note(stream)
	}
}
