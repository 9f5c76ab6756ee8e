package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// rung is the place on the ladder that a throttled message has come to, from 0: the first where it gave no new strike. The ladder isn't
// empty.
func (p *Penalties) rung(strikes int, isNew bool) int {
	if !isNew {
		return 0
	}
	return min(max(strikes, 1), len(p.Ladder)) - 1
}

// penalty is what a throttled message draws that has to wait so long (in nanoseconds; limits.Never: for ever). Lengths are whole seconds.
func (p *Penalties) penalty(strikes int, isNew bool, wait int64) Penalty {
	if len(p.Ladder) == 0 {
		return Penalty{Action: Drop}
	}
	rung := p.Ladder[p.rung(strikes, isNew)]
	if !rung.UntilRefill {
		return rung
	}
	if wait == limits.Never {
		return Penalty{Action: Delete}
	}
	return Penalty{Action: Timeout, Duration: (untilRefill(wait) + time.Second - 1) / time.Second * time.Second}
}

// untilRefill is how long a timeout is that ends when the user may speak again.
func untilRefill(wait int64) time.Duration {
	return min(max(time.Duration(wait), MinTimeout), MaxTimeout)
}

// silence is for how long, in nanoseconds, that penalty keeps the user from writing. A ban isn't counted: whoever was unbanned starts anew.
func (p Penalties) silence(strikes int, isNew bool, wait int64) int64 {
	if len(p.Ladder) == 0 {
		return 0
	}
	switch rung := p.Ladder[p.rung(strikes, isNew)]; {
	case !rung.UntilRefill:
		return int64(rung.Duration)
	case wait == limits.Never:
		return 0
	}
	return int64(untilRefill(wait))
}

// mildest is what is left of the ladder where the user is not to be punished: the message goes.
func (p *Penalties) mildest() Penalty {
	if len(p.Ladder) == 0 || p.Ladder[0].Action == Drop {
		return Penalty{Action: Drop}
	}
	return Penalty{Action: Delete}
}
