package chatguard

import "slices"

// observer is one observer of a Guard. Its address tells it from others with the same function.
type observer struct{ observe func(Message, Verdict) }

// AddObserver adds an observer, which is called with every verdict from now on, after the existing
// observers. The requirements of Options.Observer apply. Calling remove removes the observer. A
// decision made at the same time in another goroutine may still notify it. AddObserver ignores nil.
func (g *Guard) AddObserver(observe func(Message, Verdict)) (remove func()) {
	if observe == nil {
		return func() {}
	}
	added := &observer{observe}
	g.changeObservers(func(all []*observer) []*observer { return append(all, added) })
	return func() {
		g.changeObservers(func(all []*observer) []*observer {
			return slices.DeleteFunc(all, func(o *observer) bool { return o == added })
		})
	}
}

// changeObservers replaces the observers. change gets a copy of the list.
func (g *Guard) changeObservers(change func([]*observer) []*observer) {
	for {
		before := g.observers.Load()
		var all []*observer
		if before != nil {
			all = slices.Clone(*before)
		}
		after := &all
		if all = change(all); len(all) == 0 {
			after = nil
		}
		if g.observers.CompareAndSwap(before, after) {
			return
		}
	}
}

// notify calls the observers, if there are any.
func (g *Guard) notify(m *Message, v *Verdict) {
	observers := g.observers.Load()
	if observers == nil {
		return
	}
	told := *m
	told.SentAt = v.At
	for _, o := range *observers {
		o.observe(told, *v)
	}
}
