package limits

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// collidingKeys returns keys with the same tag whose search in a table of minimum size begins at
// the last slot.
func collidingKeys(n int) (keys []uint64) {
	var tag byte
	for key := uint64(1); len(keys) < n; key++ {
		h := hash(key)
		if home(h, groupSize) != groupSize-1 {
			continue
		}
		if len(keys) == 0 {
			tag = tagOf(h)
		}
		if tagOf(h) == tag {
			keys = append(keys, key)
		}
	}
	return keys
}

func TestSlots_MatchMap(t *testing.T) {
	keys := collidingKeys(12)
	for key := range uint64(40) {
		keys = append(keys, key, key|namedKey)
	}
	type content struct {
		word  uint64
		dirty bool
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := shard{slots: slots{width: 2}, set: new(Set)}
		model := map[uint64]content{}
		pool := keys[:rapid.SampledFrom([]int{5, 12, len(keys)}).Draw(rt, "keys")]
		for i := range uint64(rapid.IntRange(0, 200).Draw(rt, "steps")) {
			key := rapid.SampledFrom(pool).Draw(rt, "key")
			slot, found := s.find(key, 0, hashOf(key), "")
			if _, want := model[key]; found != want {
				rt.Fatalf("step %d: key %d is found: %v", i, key, found)
			}
			switch action := rapid.IntRange(0, 9).Draw(rt, "action"); {
			case action < 5 && !found:
				slot = s.add(key)
				if row := s.row(slot); row[0] != key || row[1] != 0 || s.dirty.has(slot) {
					rt.Fatalf("step %d: a new row is %v, dirty: %v", i, row, s.dirty.has(slot))
				}
				s.row(slot)[1] = i
				model[key] = content{word: i}
			case action < 5:
				s.dirty.set(slot)
				model[key] = content{model[key].word, true}
			case action < 8 && found:
				s.remove(slot)
				delete(model, key)
			case action == 8:
				s.layOut(max(groupSize, 10*(s.count+1)/fullTenths+rapid.IntRange(1, 20).Draw(rt, "more")))
			case action == 9:
				s.shrink()
			}
			if s.count != len(model) {
				rt.Fatalf("step %d: %d rows, want %d", i, s.count, len(model))
			}
		}
		inUse := 0
		for slot := range s.len() {
			if s.inUse(slot) {
				inUse++
			}
			if slot < groupSize && s.tags[slot] != s.tags[slot+s.len()] {
				rt.Fatalf("the tag of slot %d isn't behind the last", slot)
			}
		}
		if inUse != len(model) {
			rt.Fatalf("%d slots are in use, want %d", inUse, len(model))
		}
		for key, want := range model {
			slot, ok := s.find(key, 0, hashOf(key), "")
			if !ok || !s.holds(slot, key) || s.row(slot)[1] != want.word || s.dirty.has(slot) != want.dirty {
				rt.Fatalf("key %d: found %v, want %+v", key, ok, want)
			}
		}
	})
}

func TestSlots_FreeMemory(t *testing.T) {
	s := shard{slots: slots{width: 2}, set: new(Set)}
	for key := range uint64(10_000) {
		s.add(key)
	}
	if n := s.len(); n > 12_500 {
		t.Errorf("%d slots for 10,000 rows", n)
	}
	for key := range uint64(9_900) {
		slot, _ := s.find(key, 0, hashOf(key), "")
		s.remove(slot)
	}
	s.shrink()
	if n := s.len(); n > 400 {
		t.Errorf("%d slots for 100 rows", n)
	}
	for key := range uint64(10_000) {
		if _, ok := s.find(key, 0, hashOf(key), ""); ok != (key >= 9_900) {
			t.Fatalf("key %d is found: %v", key, ok)
		}
	}
}

func TestNames_NumericKeys(t *testing.T) {
	for id, want := range map[string]int64{
		"0": 0, "7": 7, "123456789": 123456789, "999999999999999999": 999999999999999999,
		"": emptyKey, "007": -1, "00": -1, "-1": -1, "+1": -1, "1.0": -1, " 1": -1, "1a": -1, "1000000000000000000": -1, "१": -1, "99999999999999999999": -1,
		"check:0": 0 | askedKey, "check:7": 7 | askedKey, "check:999999999999999999": 999999999999999999 | askedKey,
		"check:": -1, "check:007": -1, "check:a": -1, "check:check:7": -1, "Check:7": -1, "check": -1,
	} {
		key, ok := numericKey(id)
		if ok != (want >= 0) || ok && key != uint64(want) {
			t.Errorf("%q: %d, %v", id, key, ok)
		}
		if back := (&names{}).id(key); ok && back != id {
			t.Errorf("%q comes back as %q", id, back)
		}
	}
}

// TestNames_MovedAndCompacted checks that every user keeps their row and their override while the
// names of others come and go, and that the names of users who left take little memory.
func TestNames_MovedAndCompacted(t *testing.T) {
	table := newTable(t, bucket(1, 1000*time.Hour))
	long := strings.Repeat("ä", 100)
	users := []string{"anna", "berta", "", long, long + "x", strings.Repeat("z", 127), strings.Repeat("z", 128), "0x7", "check:07"}
	set := func(user string, burst int) {
		must(t, table.SetOwn(user, ownBurst(int64(burst)), nanos(0)))
	}
	size := 0
	for i, user := range users {
		set(user, i+1)
		size += nameSize(len(user))
	}
	for i := range 1000 {
		user := users[i%len(users)]
		var p place
		table.fillPlace(user, &p)
		if p.find(); !p.found || table.OwnOf(user, nanos(0)).Numbers["burst"].Burst != int64(i+1) {
			t.Fatalf("%q has %+v, want a burst of %d", user, table.OwnOf(user, nanos(0)), i+1)
		}
		p.shard.drop(p.slot)
		set(user, i+1+len(users))
	}
	if room := cap(table.first.names.text); room > 2*size+64 {
		t.Errorf("room for %d bytes, %d are used", room, size)
	}
	if n := table.names.Load(); n < int64(size) || n > int64(size+size/4) {
		t.Errorf("%d bytes are counted, %d are used", n, size)
	}
	owns := table.Owns(nanos(0))
	for _, user := range users {
		if _, ok := owns[user]; !ok || len(owns) != len(users) {
			t.Errorf("%d overrides, and one of %q: %v", len(owns), user, ok)
		}
	}
}
