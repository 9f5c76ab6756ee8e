package chat

import (
	"errors"

	"github.com/chatguard/chatguard/internal/penalties"
)

// reportFloods requests slow mode in channels whose flood exceeds the available requests. The
// caller holds mu.
func (b *backlog) reportFloods() {
	for _, l := range b.channels {
		if l.order.Len() >= floodUsers {
			b.bot.slowModes.reportFlood(l.channelID)
		}
	}
}

// floodUsers is how many users must have pending penalties in a channel before slow mode is
// requested. It applies only while no request can be sent.
const floodUsers = 50

// noteHold records err if it says that the platform carries out no more penalties of the task's
// kind for a while. If the platform's limit is used up, that counts as a flood.
func (s *task) noteHold(err error) {
	held, ok := errors.AsType[*HeldError](err)
	if !ok {
		return
	}
	if held.Busy {
		s.bot.slowModes.reportFlood(s.channel.channelID)
	}
	if !penalties.Silences(s.penalty.Action) {
		return
	}
	b := s.bot.backlog
	b.mu.Lock()
	defer b.mu.Unlock()
	s.channel.heldUntil = b.bot.steady().Add(held.Wait)
}
