package persist

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func wantSettings(t *testing.T, s *Store, want string) {
	t.Helper()
	if got, err := s.Settings(ctx); err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
}

func TestSettings_RoundTrip(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	// a waiting caller triggers a flush
	s := open(t, path, &Options{FlushInterval: time.Hour, Now: at(start)})
	stop := startRun(t, s, guardOf(t, s, policy()))
	wantSettings(t, s, "map[]")
	for _, step := range []struct{ channelID, name, value, want string }{
		{"1", "slow", "30", "map[1:map[slow:30]]"},
		{"1", "slow", "off", "map[1:map[slow:off]]"},
		{"1", "paused", "yes", "map[1:map[paused:yes slow:off]]"},
		{"2", "slow", "\xff\x00", "map[1:map[paused:yes slow:off] 2:map[slow:\xff\x00]]"},
		{"1", "slow", "", "map[1:map[paused:yes] 2:map[slow:\xff\x00]]"},
		{"1", "slow", "", "map[1:map[paused:yes] 2:map[slow:\xff\x00]]"},
		{"1", "paused", "", "map[2:map[slow:\xff\x00]]"},
	} {
		wantSaved(t, true)(s.SaveSetting(ctx, step.channelID, step.name, step.value))
		wantSettings(t, s, step.want)
		if waiting := s.settings.pending.peek(); len(waiting) > 0 {
			t.Errorf("what is stored still waits: %+v", waiting)
		}
	}
	stop()
	must(t, s.Close())
	wantSettings(t, open(t, path, nil), "map[2:map[slow:\xff\x00]]")
}

func TestSettings_TooManyRefused(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	for n := range maxChanges {
		_, err := s.SaveSetting(endedContext, fmt.Sprint(n), "paused", "yes")
		must(t, err)
	}
	_, err := s.SaveSetting(endedContext, "another", "paused", "yes")
	if wantError(t, err, `setting "paused" of channel another`, "1000 changes are already pending"); !errors.Is(err, ErrTooMany) {
		t.Errorf("got %v", err)
	}
	_, err = s.SaveSetting(endedContext, "7", "paused", "no") // it is already pending
	must(t, err)
	s.mustFlush(t, g)
	_, err = s.SaveSetting(endedContext, "another", "paused", "yes")
	must(t, err)
	settings, err := s.Settings(ctx)
	if err != nil || len(settings) != maxChanges+1 || settings["7"]["paused"] != "no" || settings["another"]["paused"] != "yes" {
		t.Errorf("%d settings, %v, %v", len(settings), settings["7"], err)
	}
}

// A setting always has the value that it was last set to. The test saves, writes and reads settings
// in any order, and some flushes fail.
func TestSettings_LastValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, err := OpenMemory(ctx, &Options{Now: at(start), Logger: quiet})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		want := map[string]map[string]string{}
		var writing *part
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 4).Draw(rt, "what happens") {
			case 0: // begin a flush, or continue the current one
				if writing == nil {
					p := s.settings.pending.part(writeSettings)
					writing = &p
				} else if err := s.db.Write(ctx, func(tx *sql.Tx) error { return writing.write(ctx, tx) }); err != nil {
					rt.Fatal(err)
				} else {
					writing.done(ctx, true)
					writing = nil
				}
			case 1: // it fails
				writing = nil
			default:
				key := settingKey{rapid.SampledFrom([]string{"1", "2"}).Draw(rt, "channel"), rapid.SampledFrom([]string{"paused", "slow"}).Draw(rt, "name")}
				value := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "value")
				if _, err := s.SaveSetting(endedContext, key.channelID, key.name, value); err != nil {
					rt.Fatal(err)
				}
				putSetting(want, key, &value)
			}
			if got, err := s.Settings(ctx); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				rt.Fatalf("%v, %v, want %v", got, err, want)
			}
		}
	})
}
