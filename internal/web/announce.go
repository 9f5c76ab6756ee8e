package web

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// noted are channels that the live feed's next turn does something about. The zero value has none. It is safe for concurrent use.
type noted struct {
	mu       sync.Mutex
	channels map[string]struct{}
}

func (n *noted) add(channel string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.channels == nil {
		n.channels = map[string]struct{}{}
	}
	n.channels[channel] = struct{}{}
}

// take returns the channels, in order, and forgets them.
func (n *noted) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := slices.Sorted(maps.Keys(n.channels))
	clear(n.channels)
	return taken
}

// judgeAgain asks the Guard anew about everyone who is held back in the channel, so that "may speak" is true under its present policy. The
// empty channel stands for all.
func (s *Server) judgeAgain(channel string, now time.Time) {
	for _, r := range s.board.list(channel) {
		s.judgeRow(r, now)
	}
}

func (s *Server) judgeRow(r row, now time.Time) {
	e, err := s.opts.Guard.Explain(chatguard.Message{
		ChannelID: r.Channel, User: chatguard.User{ID: r.UserID, Roles: r.roles}, SentAt: now, Cost: r.cost,
	})
	if err != nil {
		return // the row leaves when its time is over
	}
	v := e.Verdict
	v.Strikes = e.Strikes // those that count, and not one more for a message that nobody wrote
	s.board.judge(r, v, now)
}

// Amended judges a user again whom somebody has given or forgiven something, so that they leave the board at once where nothing holds them back any
// more. It never waits for disk, network or a reader.
func (s *Server) Amended(channelID, userID string) {
	if r, ok := s.board.find(channelID, userID); ok {
		s.judgeRow(r, s.opts.Now())
	}
}

// announce tells the live feed of the revision, and whether it is saved.
func (s *Server) announce(revision journal.Revision) error {
	return s.feed.publish(func() []frame {
		frames := s.policyFrames([]string{revision.ChannelID})
		frames[0].Policy.Revision = &revisionNote{revision.Number, revision.Author, revision.At}
		return frames
	})
}

// announceSwitched tells the live feed of channels whose switches have changed. Who paused one stands in the status.
func (s *Server) announceSwitched(channels []string) error {
	if len(channels) == 0 {
		return nil
	}
	return errors.Join(s.feed.publish(func() []frame { return s.policyFrames(channels) }), s.feed.publishStatus(s.statusFrame))
}

// policyFrames tell how the policies of channels stand. Frames are made where the feed publishes them, so that an older state never comes last.
func (s *Server) policyFrames(channels []string) []frame {
	var frames []frame
	for _, channel := range channels {
		policy := s.policyState(channel)
		frames = append(frames, frame{Type: policyFrame, Now: s.opts.Now(), Channel: channel, Policy: &policy})
	}
	return frames
}
