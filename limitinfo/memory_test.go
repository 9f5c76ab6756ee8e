package limitinfo

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// logPolicy returns a policy of one sliding-log.
func logPolicy(messages int, per chatguard.Scope) chatguard.Policy {
	log := chatguard.SlidingLogLimit("log", messages, time.Hour)
	log.Per = per
	return chatguard.Policy{Limits: []chatguard.Limit{log}}
}

func TestCapacity(t *testing.T) {
	for _, test := range []struct {
		name                      string
		policy                    chatguard.Policy
		memory                    int64
		wantUsers, wantEverywhere int64 // within one percent
	}{
		{"the default policy", chatguard.DefaultPolicy(), 0, 6_954_000, 0},
		{"half the memory", chatguard.DefaultPolicy(), 256 << 20, 3_477_000, 0},
		{"the longest log", logPolicy(1024, chatguard.PerUser), 0, 54_500, 0},
		{"in all channels", logPolicy(1024, chatguard.PerUserEverywhere), 0, 11_120_000, 54_500},
		{"next to nothing", chatguard.DefaultPolicy(), 1, 1, 0},
	} {
		users, everywhere, err := Capacity(test.policy, test.memory)
		near := func(got, want int64) bool { return got >= want-want/100 && got <= want+want/100 }
		if err != nil || !near(users, test.wantUsers) || !near(everywhere, test.wantEverywhere) {
			t.Errorf("%s: %d users, %d everywhere, %v; want %d and %d", test.name, users, everywhere, err, test.wantUsers, test.wantEverywhere)
		}
	}
	if _, _, err := Capacity(logPolicy(1025, chatguard.PerUser), 0); err == nil {
		t.Error("a policy that isn't valid has a capacity")
	}
}

// Texts have a fifth of the users' memory, for each combination of limits on repeated text.
func TestTextCapacity(t *testing.T) {
	both := logPolicy(3, chatguard.PerText)
	longest := logPolicy(1024, chatguard.PerUserText).Limits[0]
	longest.Name = "longest"
	both.Limits = append(both.Limits, longest)
	for _, test := range []struct {
		name   string
		policy chatguard.Policy
		memory int64
		want   int64
	}{
		{"without such limits", chatguard.DefaultPolicy(), 0, 0},
		{"a short log", logPolicy(3, chatguard.PerText), 0, 1_117_969},
		{"the longest log as well", both, 0, 10_811},
		{"next to nothing", both, 1, 1},
	} {
		if got, err := TextCapacity(test.policy, test.memory); err != nil || got != test.want {
			t.Errorf("%s: %d texts, %v, want %d", test.name, got, err, test.want)
		}
	}
	if _, err := TextCapacity(logPolicy(0, chatguard.PerText), 0); err == nil {
		t.Error("a policy that isn't valid has a capacity")
	}
}

// TextMemory counts the texts of all limits that count apart.
func TestTextMemory(t *testing.T) {
	bytes := func(p chatguard.Policy) int64 {
		t.Helper()
		n, err := TextMemory(p, 100_000)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	all, own := logPolicy(3, chatguard.PerText), logPolicy(3, chatguard.PerUserText)
	both := logPolicy(3, chatguard.PerText)
	own.Limits[0].Name = "own"
	both.Limits = append(both.Limits, own.Limits...)
	if one := bytes(all); one < 100_000*64 || one > 100_000*100 || bytes(own) != one || bytes(both) != 2*one || bytes(chatguard.DefaultPolicy()) != 0 {
		t.Errorf("100,000 texts take %d and %d bytes alone, and %d in both", one, bytes(own), bytes(both))
	}
	if _, err := TextMemory(logPolicy(0, chatguard.PerText), 1); err == nil {
		t.Error("a policy that isn't valid takes memory")
	}
}

// Memory counts each log at its maximum size, even a log that counts in all channels.
func TestMemory_CountsLogs(t *testing.T) {
	bytes := func(per chatguard.Scope, messages int) int64 {
		t.Helper()
		n, err := Memory(logPolicy(messages, per), 1000)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, per := range []chatguard.Scope{chatguard.PerUser, chatguard.PerUserEverywhere} {
		if more := bytes(per, 1000) - bytes(per, 500); more < 1000*500*8 {
			t.Errorf("%v: 500 messages of 1,000 users take %d bytes", per, more)
		}
	}
	if _, err := Memory(logPolicy(-1, chatguard.PerUser), 1); err == nil {
		t.Error("a log of -1 messages takes memory")
	}
}
