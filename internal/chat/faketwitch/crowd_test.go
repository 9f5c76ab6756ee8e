package faketwitch

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/waittest"
)

// futureMessages returns what a crowd writes within a duration.
func futureMessages(c *Crowd, while time.Duration) (said []utterance) {
	for at, line := range c.Lines(while) {
		said = append(said, utterance{at, line})
	}
	return said
}

func TestCrowd_Deterministic(t *testing.T) {
	one, again, other := futureMessages(&Crowd{Channel: "room", Seed: 1}, time.Minute), futureMessages(&Crowd{Channel: "room", Seed: 1}, time.Minute), futureMessages(&Crowd{Channel: "room", Seed: 2}, time.Minute)
	if !slices.Equal(one, again) {
		t.Error("the same seed plays differently")
	}
	if slices.Equal(one, other) {
		t.Error("another seed plays alike")
	}
}

// excessTimes returns the users who exceed 3 messages at once plus one every 4 s. The map's keys
// are logins, and its values are the times from which they exceed it.
func excessTimes(said []utterance) map[string]time.Duration {
	const burst, refill = 3, 4 * time.Second
	free, since := map[string]time.Duration{}, map[string]time.Duration{}
	for _, u := range said {
		if isStaff(u.line.Badges) {
			continue
		}
		who := u.line.Login
		debt := max(free[who], u.at)
		if debt+refill > u.at+burst*refill {
			if _, known := since[who]; !known {
				since[who] = u.at
			}
			continue
		}
		free[who] = debt + refill
	}
	return since
}

// messagesPerUser returns how many messages each user writes.
func messagesPerUser(said []utterance) map[string]int {
	n := map[string]int{}
	for _, u := range said {
		n[u.line.Login]++
	}
	return n
}

// TestCrowd_Evenings checks that another evening has the same regulars, who write something else,
// and other visitors.
func TestCrowd_Evenings(t *testing.T) {
	one := futureMessages(&Crowd{Channel: "room", Rate: 5, Seed: 1, RaidAt: -1}, 10*time.Minute)
	other := futureMessages(&Crowd{Channel: "room", Rate: 5, Seed: 1, Evening: 1, RaidAt: -1}, 10*time.Minute)
	before, shared := messagesPerUser(one), 0
	for login := range messagesPerUser(other) {
		if before[login] > 0 {
			shared++
		}
	}
	if all := len(before); shared < all/3 || shared > all*3/4 {
		t.Errorf("%d of %d users are there again", shared, all)
	}
	if slices.Equal(one, other) {
		t.Error("they write the same")
	}
	scripts := map[bool]int{}
	for _, u := range one {
		scripts[u.line.DisplayName[0] < 0x80]++
	}
	if scripts[false] == 0 {
		t.Error("nobody has a display name in another script")
	}
}

// TestCrowd_Insists checks that some spammers stop when their messages are deleted, and that others
// are still there after a warning and a timeout.
func TestCrowd_Insists(t *testing.T) {
	first, last := map[string]time.Duration{}, map[string]time.Duration{}
	for _, u := range futureMessages(&Crowd{Channel: "room", Rate: 4, Raiders: -1}, 20*time.Minute) {
		if _, ok := first[u.line.Login]; !ok {
			first[u.line.Login] = u.at
		}
		last[u.line.Login] = u.at
	}
	lengths := map[string]int{}
	for login := range excessTimes(futureMessages(&Crowd{Channel: "room", Rate: 4, Raiders: -1}, 20*time.Minute)) {
		switch length := last[login] - first[login]; {
		case length < 10*time.Second:
			lengths["deleted"]++
		case length < 30*time.Second:
			lengths["warned"]++
		case length > 70*time.Second:
			lengths["timed out"]++
		}
	}
	if want := []string{"deleted", "timed out", "warned"}; !slices.Equal(slices.Sorted(maps.Keys(lengths)), want) {
		t.Errorf("%v, want each of %q", lengths, want)
	}
}

// TestCrowd_Surges checks that the pace of a crowd rises and falls around its rate.
func TestCrowd_Surges(t *testing.T) {
	const minutes = 40
	var per [minutes]int
	said := futureMessages(&Crowd{Channel: "room", Rate: 5, Surges: true, Spammers: -1, Raiders: -1}, minutes*time.Minute)
	for _, u := range said {
		per[int(u.at.Minutes())]++
	}
	if least, most := slices.Min(per[:]), slices.Max(per[:]); most < 2*least {
		t.Errorf("%d to %d messages in a minute", least, most)
	}
	if got := float64(len(said)) / (minutes * 60); got < 4 || got > 6 {
		t.Errorf("%.1f messages a second, want about 5", got)
	}
}

// TestCrowd_Shows checks what the demo shows, for any seed. Spammers exceed the limit within 3 s,
// and nobody else does until the raid. Staff write a lot, and the message rate is about as
// requested.
func TestCrowd_Shows(t *testing.T) {
	for seed := range uint64(50) {
		said := futureMessages(&Crowd{Channel: "room", Seed: seed}, time.Minute)
		quick, spammers := 0, 0
		for _, at := range excessTimes(slices.DeleteFunc(slices.Clone(said), func(u utterance) bool { return u.at > 8*time.Second })) {
			spammers++
			if at <= 3*time.Second {
				quick++
			}
		}
		if spammers < 4 || spammers > 10 || quick == 0 {
			t.Errorf("seed %d: %d exceed the limit before the raid, %d of them within 3 s", seed, spammers, quick)
		}
		if raided := len(excessTimes(said)) - spammers; raided == 0 {
			t.Errorf("seed %d: no raider exceeds the limit", seed)
		}
		staff := 0
		for _, u := range said {
			if isStaff(u.line.Badges) {
				staff++
			}
			if u.line.Text == "" || u.line.Channel != "room" || u.line.Login == "" || u.line.DisplayName == "" {
				t.Errorf("seed %d: %+v", seed, u.line)
			}
		}
		if staff < 100 || len(said) < 35*60 || len(said) > 55*60 {
			t.Errorf("seed %d: %d messages in a minute, %d of them by staff", seed, len(said), staff)
		}
	}
}

func TestCrowd_Rate(t *testing.T) {
	for _, rate := range []float64{10, 60, 500} {
		said := futureMessages(&Crowd{Channel: "room", Rate: rate, Raiders: -1}, 2*time.Minute)
		if got := float64(len(said)) / 120; got < rate*0.85 || got > rate*1.15 {
			t.Errorf("%.1f messages a second, want about %v", got, rate)
		}
	}
	if got := excessTimes(futureMessages(&Crowd{Channel: "room", Spammers: -1, Raiders: -1}, 2*time.Minute)); len(got) != 0 {
		t.Errorf("without spammers and raids somebody exceeds the limit: %v", got)
	}
}

// TestCrowd_Raid checks that Run continues after Lines, and that Raid sends new users.
func TestCrowd_Raid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, Options{Channels: []string{"room"}, InMemory: true})
		crowd := &Crowd{Channel: "room", Rate: 2, Spammers: -1, RaidAt: -1, Raiders: 20}
		before := messagesPerUser(slices.Collect(func(yield func(utterance) bool) {
			for at, line := range crowd.Lines(time.Hour) {
				yield(utterance{at, line})
			}
		}))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- crowd.Run(ctx, srv) }()
		visitors := func() (n int) {
			seen := map[string]bool{}
			for _, m := range srv.Messages(srv.UserID("room")) {
				if before[m.Login] == 0 && !seen[m.Login] {
					seen[m.Login] = true
					n++
				}
			}
			return n
		}
		<-time.After(time.Minute)
		if crowd.Sent() < 60 || crowd.Sent() > 180 || visitors() > 0 {
			t.Errorf("%d messages within a minute, %d new users", crowd.Sent(), visitors())
		}
		crowd.Raid()
		<-time.After(30 * time.Second)
		if visitors() != 20 {
			t.Errorf("%d new users, want 20", visitors())
		}
		stop()
		must(t, <-ended)
	})
}

func TestCrowd_Runs(t *testing.T) {
	s := start(t, Options{Channels: []string{"room"}})
	crowd := &Crowd{Channel: "room", Rate: 5000, Raiders: -1}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- crowd.Run(ctx, s) }()
	waittest.Until(t, func() bool { return s.Said() >= 100 })
	cancel()
	must(t, <-ended)
	if crowd.Sent() != s.Said() {
		t.Errorf("counts %d, said %d", crowd.Sent(), s.Said())
	}
	if err := (&Crowd{Channel: "nowhere"}).Run(t.Context(), s); err == nil {
		t.Error("no error for a channel that doesn't exist")
	}
}

// TestCrowd_Continues checks that the crowd continues whatever the moderators do. A warned user
// acknowledges the warning. A user who is too fast or timed out writes again later.
func TestCrowd_Continues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, Options{Channels: []string{"room"}, InMemory: true})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		crowd := &Crowd{Channel: "room"}
		go func() { ended <- crowd.Run(ctx, srv) }()
		where := "?broadcaster_id=" + srv.UserID("room") + "&moderator_id=" + srv.BotID()
		for range 3 {
			<-time.After(5 * time.Second)
			for _, m := range srv.Messages(srv.UserID("room"))[:20] {
				ask(t, srv, "POST", "/moderation/warnings"+where, `{"data":{"user_id":"`+m.UserID+`","reason":"slow down"}}`)
			}
			ask(t, srv, "PATCH", "/chat/settings"+where, `{"slow_mode":true,"slow_mode_wait_time":5}`)
		}
		before := crowd.Sent()
		<-time.After(10 * time.Second)
		if crowd.Sent() == before {
			t.Error("nobody speaks any more")
		}
		stop()
		must(t, <-ended)
	})
}
