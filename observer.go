package chatguard

import (
	"slices"
	"sync/atomic"
)

// observer is one observer of a Guard. Its address tells it from others with the same function.
type observer struct{ observe func(Message, Verdict) }

// observers are those of a Guard. The list is replaced, never modified; nil if there are none.
type observers struct{ list atomic.Pointer[[]*observer] }

// AddObserver adds an observer, which is called with every verdict from now on, after the existing
// observers. The requirements of Options.Observer apply. Calling remove removes the observer. A
// decision made at the same time in another goroutine may still notify it. AddObserver ignores nil.
func (g *Guard) AddObserver(observe func(Message, Verdict)) (remove func()) {
	if observe == nil {
		return func() {}
	}
	added := &observer{observe}
	g.observers.change(func(all []*observer) []*observer { return append(all, added) })
	return func() {
		g.observers.change(func(all []*observer) []*observer {
			return slices.DeleteFunc(all, func(o *observer) bool { return o == added })
		})
	}
}

// change replaces the observers. how gets a copy of the list.
func (o *observers) change(how func([]*observer) []*observer) {
	for {
		before := o.list.Load()
		var all []*observer
		if before != nil {
			all = slices.Clone(*before)
		}
		after := &all
		if all = how(all); len(all) == 0 {
			after = nil
		}
		if o.list.CompareAndSwap(before, after) {
			return
		}
	}
}

// notify calls the observers, if there are any.
func (o *observers) notify(m *Message, v *Verdict) {
	list := o.list.Load()
	if list == nil {
		return
	}
	told := *m
	told.SentAt = v.At
	for _, each := range *list {
		each.observe(told, *v)
	}
}
