package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// penalty is what a throttled message draws that has come to that rung of the ladder, from 0. A timeout until the refill is of that length; 0
// means that it wouldn't end.
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

// mildest is what is left of the ladder where the user is not to be punished: at most, the message goes.
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

// silences is for how long each rung keeps the user from writing. A ban isn't counted: whoever was unbanned starts anew.
func (p *Penalties) silences() []int64 {
	lengths := make([]int64, len(p.Ladder))
	for i, rung := range p.Ladder {
		lengths[i] = int64(rung.Duration)
		if rung.UntilRefill {
			lengths[i] = limits.UntilRetry
		}
	}
	return lengths
}
