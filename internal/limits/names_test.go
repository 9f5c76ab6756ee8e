package limits

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestDecimal(t *testing.T) {
	check := func(id string) {
		t.Helper()
		want, err := strconv.ParseUint(id, 10, 64)
		canonical := err == nil && len(id) <= maxNumberDigits && strconv.FormatUint(want, 10) == id
		if got, ok := decimal(id); ok != canonical || ok && got != want {
			t.Errorf("%q: %d, %v; want %d, %v", id, got, ok, want, canonical)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for length := range maxNumberDigits + 3 {
		check("99999999999999999999999"[:length])
		for range 10 {
			id := make([]byte, length)
			for i := range id {
				id[i] = '0' + byte(rng.IntN(10))
			}
			check(string(id))
			for i := range id {
				digit := id[i]
				for other := range 256 {
					id[i] = byte(other)
					check(string(id))
				}
				id[i] = digit
			}
		}
	}
}
