// Package recent remembers recently added keys and values in bounded memory.
package recent

import (
	"cmp"
	"time"
)

// Map remembers the most recently set values. It has two generations. When the young generation is
// full, it replaces the old one, so keys don't have to be evicted one by one. Get and Set take one
// or two look-ups. The zero value is empty and ready to use. It isn't safe for concurrent use.
type Map[K comparable, V any] struct {
	// Size is the minimum number of keys that are remembered; the maximum is twice that. Zero means
	// 65,536.
	Size int

	// Span is the minimum time for which a key is remembered, unless there are more than Size
	// younger keys. When the young generation reaches this age, it becomes the old one. So keys are
	// also forgotten if few are added. Zero means that age is ignored.
	Span time.Duration

	young, old map[K]V
	since      time.Time // when the young generation began
}

// Get returns the value of a key, if it is remembered.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	if value, ok = m.young[key]; !ok {
		value, ok = m.old[key]
	}
	return value, ok
}

const defaultSize = 1 << 16

// Set sets the value of a key and replaces an earlier one. Only Span needs the time.
func (m *Map[K, V]) Set(key K, value V, now time.Time) {
	if m.young == nil || len(m.young) >= cmp.Or(m.Size, defaultSize) || m.Span > 0 && now.Sub(m.since) > m.Span {
		m.young, m.old, m.since = make(map[K]V, len(m.young)), m.young, now
	}
	m.young[key] = value
}

// Len returns the number of remembered keys. A key that was set again may count twice.
func (m *Map[K, V]) Len() int { return len(m.young) + len(m.old) }
