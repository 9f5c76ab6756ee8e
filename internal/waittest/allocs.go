package waittest

import "testing"

// Allocs returns how many objects a call of f allocates. Other goroutines of the process allocate,
// too, so it is the smallest of several measurements.
func Allocs(f func()) float64 {
	least := testing.AllocsPerRun(10, f)
	for range 20 {
		least = min(least, testing.AllocsPerRun(10, f))
	}
	return least
}
