package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// penalty is what a throttled message draws that has come to that rung of the ladder, from 0, and has to wait so long (in nanoseconds;
// limits.Never: for ever). Lengths are whole seconds.
func (p *Penalties) penalty(rung int, wait int64) Penalty {
	if len(p.Ladder) == 0 {
		return Penalty{Action: Drop}
	}
	penalty := p.Ladder[min(rung, len(p.Ladder)-1)]
	switch {
	case !penalty.UntilRefill:
		return penalty
	case wait == limits.Never:
		return Penalty{Action: Delete}
	}
	length := min(max(time.Duration(wait), MinTimeout), MaxTimeout)
	return Penalty{Action: Timeout, Duration: (length + time.Second - 1) / time.Second * time.Second}
}

// mildest is what is left of the ladder where the user is not to be punished: the message goes.
func (p *Penalties) mildest() Penalty {
	if len(p.Ladder) == 0 || p.Ladder[0].Action == Drop {
		return Penalty{Action: Drop}
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
