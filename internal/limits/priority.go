package limits

import "math"

// priority is the priority of a message. A limit keeps its reserve for messages of normal priority.
type priority bool

const (
	normalPriority priority = false // paid by the first bucket of each deciding cascade
	lowPriority    priority = true
)

func (d *Decision) priority() priority { return priority(d.Low) }

// isLow reports whether the message is of low priority: see Decision.Low.
func (h *hearing) isLow() (low bool) {
	for k := range h.accounts {
		a := &h.accounts[k]
		for i := range a.rules {
			r := &a.rules[i]
			if r.buckets == nil || !h.decides(r) || a.nextFirst(r, a.at, h.cost) <= a.at {
				continue
			}
			if a.next(r, a.at, h.cost) > a.at {
				return false
			}
			low = true
		}
	}
	return low
}

// findRankedBlock is findBlock if messages have priorities. A message passes as soon as the limits
// allow it at either priority. At normal priority, the first bucket of each deciding cascade must
// hold it. At low priority, one bucket of each must, and the reserves apply. So the block ends at
// the earlier of the two times. The limit is the one that blocks the message for longest until
// then.
func (h *hearing) findRankedBlock(observers bool) block {
	normal := h.findBlockAt(normalPriority, observers)
	if normal.account == nil {
		return normal
	}
	low := h.findBlockAt(lowPriority, observers)
	switch {
	case low.account == nil || low.until < normal.until:
		return low
	case observers && h.decides(normal.rule()): // a cascade that has let the message pass
		low.until = normal.until
		return low
	}
	return normal
}

// ranks reports whether a limit can give the message a low priority: p is normal, and it is a
// cascade that decides. Limits that only observe take such a cascade into account, too.
func (h *hearing) ranks(r *Rule, p priority) bool {
	return p == normalPriority && r.buckets != nil && h.decides(r)
}

// next returns when a limit has room for the cost at that priority. A limit with a reserve must
// have room for the reserve as well, if the priority is low.
func (h *hearing) next(a *account, r *Rule, p priority, at int64) int64 {
	switch {
	case !h.ranked:
	case p == lowPriority:
		return a.next(r, at, addCapped(r.reserve, h.cost, math.MaxInt64))
	case h.ranks(r, p):
		return a.nextFirst(r, at, h.cost)
	}
	return a.next(r, at, h.cost)
}

// room returns how many messages of cost 1 a limit allows now at that priority, all paid by the
// same bucket.
func (a *account) room(r *Rule, p priority) int64 {
	state := r.state(a.row)
	if r.buckets != nil {
		first := r.first()
		room := a.remaining(first, first.level(first, first.state(state), a.at))
		for i := 1; i < len(r.buckets) && room < 1 && p == lowPriority; i++ {
			b := &r.buckets[i]
			room = b.level(b, b.state(state), a.at).remaining()
		}
		return room
	}
	room := a.remaining(r, r.level(r, state, a.at))
	if p == lowPriority {
		room -= r.reserve
	}
	return room
}

// nextFirst is next for the first bucket of a cascade.
func (a *account) nextFirst(r *Rule, at, n int64) int64 {
	first, state := r.first(), r.state(a.row)
	if a.personal != nil {
		return a.personal.next(first, first.state(state), at, n)
	}
	return first.next(first, first.state(state), at, n)
}
