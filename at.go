package chatguard

import "time"

// GuardAt changes a Guard as of a certain time. Guard.At returns it. A replay of old messages uses
// it to make a change at the time when it was made. A program that judges messages as they arrive
// uses the methods of the Guard instead.
type GuardAt struct {
	guard *Guard
	at    time.Time
}

// At returns the Guard's methods that depend on the time, as of the time at. They return ErrTime if
// no message can be judged at that time.
func (g *Guard) At(at time.Time) GuardAt { return GuardAt{g, at} }

// atNow returns the Guard's methods as of the time of its clock.
func (g *Guard) atNow() GuardAt { return GuardAt{g, g.now()} }
