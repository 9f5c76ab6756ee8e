package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// penalty returns the penalty for a throttled message on that rung of the ladder, counted from 0.
// An UntilRefill timeout lasts untilRefill. If untilRefill is 0, waiting never helps, so the
// penalty is Delete.
func (p *Penalties) penalty(rung int, untilRefill time.Duration) Penalty {
	if len(p.Ladder) == 0 {
		return Penalty{Action: Drop}
	}
	penalty := p.Ladder[min(rung, len(p.Ladder)-1)]
	switch {
	case !penalty.UntilRefill:
		return penalty
	case untilRefill == 0:
		return Penalty{Action: Delete}
	}
	return Penalty{Action: Timeout, Duration: untilRefill}
}

// mildest returns the penalty for a message whose author must not be punished. It does no more than
// remove the message.
func (p *Penalties) mildest() Penalty {
	if len(p.Ladder) == 0 {
		return Penalty{Action: Drop}
	}
	switch first := p.Ladder[0]; first.Action {
	case NoAction, Drop:
		return first
	}
	return Penalty{Action: Delete}
}

// silenceLengths returns how long each rung silences the user. A ban counts as 0, because an
// unbanned user starts again.
func (p *Penalties) silenceLengths() []int64 {
	lengths := make([]int64, len(p.Ladder))
	for i, rung := range p.Ladder {
		lengths[i] = int64(rung.Duration)
		if rung.UntilRefill {
			lengths[i] = limits.UntilRetry
		}
	}
	return lengths
}
