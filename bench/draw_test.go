package main

import (
	"reflect"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/bench/internal/sequence"
)

func TestDraws_SameInBothLayouts(t *testing.T) {
	crowd := sequence.Crowd(1000)
	for _, how := range []sequence.Spread{sequence.Uniform, sequence.Zipf} {
		inLine, apart := newDraws(20_000, crowd, how, stream), newDraws(20_000, crowd, how, scattered)
		if !reflect.DeepEqual(inLine, apart) {
			t.Errorf("%s: the sequences differ", how)
		}
		for i := range len(inLine) - 1 {
			end := unsafe.Add(unsafe.Pointer(unsafe.StringData(inLine[i].id)), len(inLine[i].id))
			if end != unsafe.Pointer(unsafe.StringData(inLine[i+1].id)) {
				t.Fatalf("%s: ID %d doesn't follow the one before", how, i+1)
			}
		}
		places := map[*byte]bool{}
		for _, d := range apart {
			places[unsafe.StringData(d.id)] = true
		}
		if len(places) > len(crowd) {
			t.Errorf("%s: %d places for the IDs of %d users", how, len(places), len(crowd))
		}
	}
}

func TestDraws_Spread(t *testing.T) {
	const n = 100_000
	crowd := sequence.Crowd(1000)
	for how, most := range map[sequence.Spread][2]float64{sequence.Uniform: {0.0005, 0.0025}, sequence.Zipf: {0.1, 0.3}} {
		wrote := map[string]int{}
		moderators := 0
		for _, d := range newDraws(n, crowd, how, stream) {
			id, err := strconv.ParseUint(d.id, 10, 64)
			if err != nil || !slices.Contains(crowd[:], id) {
				t.Fatalf("%s: %q is nobody of the crowd", how, d.id)
			}
			wrote[d.id]++
			if d.roles.Has(chatguard.RoleModerator) {
				moderators++
			}
		}
		highest := 0
		for _, times := range wrote {
			highest = max(highest, times)
		}
		if part := float64(highest) / n; part < most[0] || part > most[1] {
			t.Errorf("%s: who writes most wrote %.4f of all, want %v", how, part, most)
		}
		if part := float64(moderators) / n; part < 0.008 || part > 0.012 {
			t.Errorf("%s: %.4f are a moderator's, want 0.01", how, part)
		}
	}
}
