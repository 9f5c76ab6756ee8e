package chat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// flood throttles more users than there are requests for.
func (s *stage) flood() {
	s.platform.mu.Lock()
	s.platform.most, s.platform.spent = 1, 1
	s.platform.mu.Unlock()
	for n := range floodUsers + 1 {
		user := string(rune('À' + n))
		m, again := message(fmt.Sprint(user, 1), user), message(fmt.Sprint(user, 2, time.Now()), user)
		m.SentAt, again.SentAt = time.Now(), time.Now()
		s.sink.Messages(time.Time{}, []Message{m, again})
	}
	s.wait(budgetTick)
}

// saveSetting stores the setting that was in force before the bot turned slow mode on.
func (s *stage) saveSetting(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings["1 "+SlowModeSetting] = value
}

// savedSetting returns the setting that was in force before the bot turned slow mode on.
func (s *stage) savedSetting() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings["1 "+SlowModeSetting]
}

func (s *stage) failSaving() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsavable = true
}

// TestSlowMode checks that slow mode is the last resort in a flood. The former setting is saved
// before any change, and restored a minute after the flood.
func TestSlowMode(t *testing.T) {
	testWithBot(t, Options{SlowMode: 30 * time.Second, Patience: 5 * time.Second}, func(s *stage) {
		s.platform.slow = slowMode{true, 3 * time.Second}
		s.flood()
		s.checkRequests("slow mode in 1: true 30s")
		if got := s.bot.Slowed(); !maps.Equal(got, map[string]time.Duration{"1": 30 * time.Second}) {
			t.Errorf("slowed %v", got)
		}
		if got := s.savedSetting(); got != `{"former":{"on":true,"wait":3000000000},"ours":30000000000}` {
			t.Errorf("kept %q", got)
		}
		s.wait(50 * time.Second)
		s.flood()
		s.wait(50 * time.Second)
		s.checkRequests() // neither set again nor restored during the flood
		s.wait(20 * time.Second)
		s.checkRequests("slow mode in 1: true 3s")
		if got := s.savedSetting(); got != "" {
			t.Errorf("still kept: %q", got)
		}
		if got := s.bot.Slowed(); len(got) > 0 {
			t.Errorf("still slowed: %v", got)
		}
	}, "delete")
}

func TestSlowMode_Restored(t *testing.T) {
	const kept = `{"former":{"on":false,"wait":0},"ours":30000000000}`
	for name, test := range map[string]struct {
		o       Options
		slow    slowMode // current setting
		prepare func(*stage)
		want    []string
		left    string // left in the settings
	}{
		"at the next start":        {Options{SlowMode: 30 * time.Second, SlowModes: map[string]string{"1": kept}}, slowMode{true, 30 * time.Second}, nil, []string{"slow mode in 1: false 0s"}, ""},
		"with another setting now": {Options{SlowMode: time.Minute, SlowModes: map[string]string{"1": kept}}, slowMode{true, 30 * time.Second}, nil, []string{"slow mode in 1: false 0s"}, ""},
		"with none wanted now":     {Options{SlowModes: map[string]string{"1": kept}}, slowMode{true, 30 * time.Second}, nil, []string{"slow mode in 1: false 0s"}, ""},
		"changed by somebody":      {Options{SlowMode: 30 * time.Second, SlowModes: map[string]string{"1": kept}}, slowMode{true, 10 * time.Second}, nil, nil, ""},
		"ended by somebody":        {Options{SlowMode: 30 * time.Second, SlowModes: map[string]string{"1": kept}}, slowMode{}, nil, nil, ""},
		"at the end":               {Options{SlowMode: 30 * time.Second}, slowMode{}, func(s *stage) { s.flood(); s.checkRequests("slow mode in 1: true 30s"); s.stop() }, []string{"slow mode in 1: false 0s"}, ""},
		"as slow already":          {Options{SlowMode: 30 * time.Second}, slowMode{true, time.Minute}, func(s *stage) { s.flood(); s.stop() }, nil, "none"},
		"nothing can be kept":      {Options{SlowMode: 30 * time.Second}, slowMode{}, func(s *stage) { s.failSaving(); s.flood(); s.stop() }, nil, ""},
		"none is wanted":           {Options{}, slowMode{}, func(s *stage) { s.flood(); s.stop() }, nil, "none"},
	} {
		testWithBot(t, test.o, func(s *stage) {
			s.platform.mu.Lock()
			s.platform.slow = test.slow
			s.platform.mu.Unlock()
			s.saveSetting("none")
			if test.prepare != nil {
				test.prepare(s)
			}
			s.wait(2 * time.Second)
			s.checkRequests(test.want...)
			if got := s.savedSetting(); got != test.left {
				t.Errorf("%s: kept %q, want %q", name, got, test.left)
			}
		}, "delete")
	}
}

// TestSlowMode_RestoreRetried checks that a failed restore is tried again.
func TestSlowMode_RestoreRetried(t *testing.T) {
	testWithBot(t, Options{SlowMode: 30 * time.Second}, func(s *stage) {
		s.flood()
		s.checkRequests("slow mode in 1: true 30s")
		s.platform.mu.Lock()
		s.platform.err = errors.New("out of reach")
		s.platform.mu.Unlock()
		s.wait(2 * time.Minute)
		s.checkRequests()
		s.platform.mu.Lock()
		s.platform.err = nil
		s.platform.mu.Unlock()
		s.wait(5 * slowModeRetry)
		s.checkRequests("slow mode in 1: false 0s")
	}, "delete")
}

// TestSlowMode_TurnOnRetried checks that slow mode is tried again after a failure.
func TestSlowMode_TurnOnRetried(t *testing.T) {
	testWithBot(t, Options{SlowMode: 30 * time.Second}, func(s *stage) {
		s.platform.mu.Lock()
		s.platform.err = errors.New("out of reach")
		s.platform.mu.Unlock()
		s.flood()
		s.checkRequests()
		s.platform.mu.Lock()
		s.platform.err = nil
		s.platform.mu.Unlock()
		s.wait(slowModeRetry + 2*slowModeTick)
		s.checkRequests("slow mode in 1: true 30s")
	}, "delete")
}

// TestSlowMode_RestoreBacksOff checks that the interval between attempts to restore grows.
func TestSlowMode_RestoreBacksOff(t *testing.T) {
	testWithBot(t, Options{SlowMode: 30 * time.Second}, func(s *stage) {
		s.flood()
		s.platform.mu.Lock()
		s.platform.err = errors.New("no moderator any more")
		asked := s.platform.asked
		s.platform.mu.Unlock()
		s.wait(24 * time.Hour)
		s.platform.mu.Lock()
		defer s.platform.mu.Unlock()
		if n := s.platform.asked - asked; n < 24 || n > 40 {
			t.Errorf("asked %d times in a day", n)
		}
	}, "delete")
}

// TestSlowMode_ByHand checks that a slow mode that a person sets during a flood stays: the bot
// neither sets its own again while the flood lasts, nor restores the one from before, also if both
// are equal. After the flood, the bot may use slow mode again.
func TestSlowMode_ByHand(t *testing.T) {
	for name, byHand := range map[string]slowMode{
		"as the bot's": {true, 30 * time.Second}, "longer": {true, time.Minute}, "shorter": {true, 3 * time.Second}, "off": {},
	} {
		testWithBot(t, Options{SlowMode: 30 * time.Second}, func(s *stage) {
			s.flood()
			s.checkRequests("slow mode in 1: true 30s")
			err := s.bot.ChangeSlowMode(s.Context(), "1", func() error {
				return s.platform.SetSlowMode(s.Context(), "1", byHand.On, byHand.Wait)
			})
			if err != nil {
				t.Error(err)
			}
			s.checkRequests(fmt.Sprintf("slow mode in 1: %v %v", byHand.On, byHand.Wait))
			if kept, slowed := s.savedSetting(), s.bot.Slowed(); kept != "" || len(slowed) > 0 {
				t.Errorf("%s: kept %q, slowed %v", name, kept, slowed)
			}
			for range 3 {
				s.wait(50 * time.Second)
				s.flood()
			}
			s.wait(2 * floodOver)
			s.checkRequests()
			s.flood()
			s.wait(2 * floodOver)
			want := []string{"slow mode in 1: true 30s", fmt.Sprintf("slow mode in 1: %v %v", byHand.On, byHand.Wait)}
			if byHand.Wait >= 30*time.Second {
				want = nil // already as slow
			}
			s.checkRequests(want...)
		}, "delete")
	}
}

// TestSlowMode_ByHandFails checks that the bot still restores slow mode if a person's change fails,
// and that the person doesn't wait for ever.
func TestSlowMode_ByHandFails(t *testing.T) {
	testWithBot(t, Options{SlowMode: 30 * time.Second}, func(s *stage) {
		s.flood()
		refused := errors.New("no moderator any more")
		if err := s.bot.ChangeSlowMode(s.Context(), "1", func() error { return refused }); !errors.Is(err, refused) {
			t.Error(err)
		}
		s.bot.slowModes.turns <- struct{}{} // somebody else's turn
		ctx, cancel := context.WithTimeout(s.Context(), time.Second)
		defer cancel()
		if err := s.bot.ChangeSlowMode(ctx, "1", func() error { return nil }); !errors.Is(err, ErrSlowModeBusy) {
			t.Error(err)
		}
		<-s.bot.slowModes.turns
		s.wait(2 * floodOver)
		s.checkRequests("slow mode in 1: true 30s", "slow mode in 1: false 0s")
	}, "delete")
}

// TestSlowMode_ByHandBeforeTheBot checks that the bot leaves the slow mode that a person sets
// during a flood, also if it needed none itself until then.
func TestSlowMode_ByHandBeforeTheBot(t *testing.T) {
	testWithBot(t, Options{SlowMode: 30 * time.Second}, func(s *stage) {
		s.platform.slow = slowMode{true, time.Minute}
		s.flood() // as slow already
		must(t, s.bot.ChangeSlowMode(s.Context(), "1", func() error { return s.platform.SetSlowMode(s.Context(), "1", true, 3*time.Second) }))
		for range 3 {
			s.wait(50 * time.Second)
			s.flood()
		}
		s.wait(2 * floodOver)
		s.checkRequests("slow mode in 1: true 3s")
	}, "delete")
}

// TestSlowMode_ByHandAtStart checks that the bot doesn't restore the slow mode from before the last
// flood, if a person has changed it before the bot runs. The dashboard may be there earlier.
func TestSlowMode_ByHandAtStart(t *testing.T) {
	guard, err := chatguard.New(enforcePolicy("delete"), nil)
	must(t, err)
	s := &stage{T: t, settings: map[string]string{}}
	const kept = `{"former":{"on":false,"wait":0},"ours":30000000000}`
	s.saveSetting(kept)
	bot := New(Options{Guard: guard, Settings: s, SlowModes: map[string]string{"1": kept}})
	must(t, bot.ChangeSlowMode(t.Context(), "1", func() error { return nil }))
	if left, slowed := s.savedSetting(), bot.Slowed(); left != "" || len(slowed) > 0 {
		t.Errorf("kept %q, slowed %v", left, slowed)
	}
}
