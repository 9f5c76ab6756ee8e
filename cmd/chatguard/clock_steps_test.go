//go:build clocksteps && unix

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// These tests take minutes. They build chatguard with a modified package time, whose wall clock
// follows a file. `make clock-steps` runs them.

var (
	stalls   = flag.String("stalls", "75s", "how long the process is stopped, as a list: 75s,5m,30m")
	stepTime = flag.Duration("step-time", 12*time.Second, "how long the clock stays as it was set")
)

// steppedBy is the environment variable that names the file with the offset of the wall clock in
// seconds.
const steppedBy = "TEST_CLOCK"

// clockStep is the code added to package time.
const clockStep = `package time

import (
	"sync/atomic"
	"syscall"
)

// stepped is by how many seconds the wall clock is off.
var stepped atomic.Int64

func init() {
	path, ok := syscall.Getenv("` + steppedBy + `")
	if !ok {
		return
	}
	go func() {
		for ; ; Sleep(10 * Millisecond) {
			file, err := syscall.Open(path, syscall.O_RDONLY, 0)
			if err != nil {
				continue
			}
			var text [24]byte
			n, _ := syscall.Read(file, text[:])
			syscall.Close(file)
			var value, sign int64 = 0, 1
			for _, c := range text[:max(n, 0)] {
				switch {
				case c == '-':
					sign = -1
				case c >= '0' && c <= '9':
					value = 10*value + int64(c-'0')
				}
			}
			stepped.Store(sign * value)
		}
	}()
}
`

// buildStepped builds chatguard with an adjustable wall clock and returns the path of the binary.
func buildStepped(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	source, folder := filepath.Join(strings.TrimSpace(string(root)), "src", "time"), t.TempDir()
	now, err := os.ReadFile(filepath.Join(source, "time.go"))
	must(t, err)
	const reads = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(now), reads) != 1 {
		t.Fatal("time.Now of this Go reads the clock in another way: change the test")
	}
	patched := strings.Replace(string(now), reads, reads+"\tsec += stepped.Load()\n", 1)
	replace := map[string]string{}
	for name, text := range map[string]string{"time.go": patched, "stepped.go": clockStep} {
		replace[filepath.Join(source, name)] = filepath.Join(folder, name)
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600))
	path := filepath.Join(folder, "chatguard")
	build := exec.Command("go", "build", "-overlay", filepath.Join(folder, "overlay.json"), "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// evening is a chat with two calm users and three spammers.
type evening struct {
	*scene
	clock string // the file that sets the bot's wall clock
	chat  sync.WaitGroup
	hush  context.CancelFunc
	wrote sync.Map // number of messages by login
}

// writers are the users of an evening and the intervals at which they write.
var writers = map[string]time.Duration{
	"calm_anna": 5 * time.Second, "calm_berta": 5 * time.Second,
	"spammer_carl": time.Second, "spammer_dora": 700 * time.Millisecond, "spammer_emil": 500 * time.Millisecond,
}

func newEvening(t *testing.T, binary string) *evening {
	t.Helper()
	e := &evening{scene: newScene(t, "[policy]\nmode = \"enforce\"\n\n[penalties]\nladder = [\"delete\"]\n"), clock: filepath.Join(t.TempDir(), "clock")}
	e.set(0)
	e.bot = startBinary(t, binary, e.configuration, append(e.env, steppedBy+"="+e.clock)...)
	awaitJoined(t, e.twitch, 1)
	ctx, hush := context.WithCancel(t.Context())
	e.hush = hush
	for login, every := range writers {
		count := new(int)
		e.wrote.Store(login, count)
		e.chat.Go(func() {
			tick := time.NewTicker(every)
			defer tick.Stop()
			for {
				*count++
				if _, err := e.twitch.Say(faketwitch.Line{Channel: "gardenhour", Login: login, Text: strconv.Itoa(*count)}); err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s can't write: %v", login, err)
					return
				}
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return e
}

// set writes the offset of the bot's wall clock.
func (e *evening) set(off time.Duration) {
	e.Helper()
	next := e.clock + ".next"
	must(e, os.WriteFile(next, []byte(strconv.Itoa(int(off.Seconds()))), 0o600))
	must(e, os.Rename(next, e.clock))
}

// stall stops the bot's process for a time. While it is stopped, stall sets the offset of its
// clock.
func (e *evening) stall(length, off time.Duration) {
	e.Helper()
	signal := func(s syscall.Signal) {
		must(e, e.bot.Process.Signal(s))
	}
	signal(syscall.SIGSTOP)
	<-time.After(length / 2)
	e.set(off)
	<-time.After(length - length/2)
	signal(syscall.SIGCONT)
}

// end ends the evening and prints who was throttled. It checks that the bot acted on every
// throttled message, except for skipped messages with one of the excused reasons.
func (e *evening) end(excused ...string) {
	e.Helper()
	e.hush()
	e.chat.Wait()
	<-time.After(3 * time.Second) // time for the last messages
	e.stop()
	throttled := map[string]int{}
	for _, o := range e.outcomes() {
		login, result, reason, n := o.login, o.result, o.reason, o.count
		throttled[login] += n
		e.Logf("%-13s %5d throttled: %s %s", login, n, result, reason)
		ok := result == "done"
		for _, reasons := range excused {
			ok = ok || result == "skipped" && reason == reasons
		}
		if !ok {
			e.Errorf("%s: %d penalties are %s: %s", login, n, result, reason)
		}
	}
	e.wrote.Range(func(login, count any) bool {
		wrote, n := *count.(*int), throttled[login.(string)]
		e.Logf("%-13s %5d written, %d throttled", login, wrote, n)
		switch calm := strings.HasPrefix(login.(string), "calm"); {
		case calm && n > 0:
			e.Errorf("%s is calm, but %d of %d messages were throttled", login, n, wrote)
		case !calm && n < wrote/2:
			e.Errorf("%s: only %d of %d messages were throttled", login, n, wrote)
		}
		return true
	})
}

// outcomes is the count of messages per author, result and reason.
type outcomes struct {
	login, result, reason string
	count                 int
}

// outcomes returns what the journal says about all throttled messages.
func (e *evening) outcomes() (all []outcomes) {
	e.Helper()
	db, err := sql.Open("sqlite", e.database())
	must(e, err)
	defer db.Close()
	rows, err := db.Query(`SELECT login, outcome_result, outcome_reason, count(*) FROM journal GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`)
	must(e, err)
	for rows.Next() {
		var o outcomes
		must(e, rows.Scan(&o.login, &o.result, &o.reason, &o.count))
		all = append(all, o)
	}
	must(e, errors.Join(rows.Err(), rows.Close()))
	return all
}

// TestClockSteps sets the wall clock of a running chatguard back and forth. Every throttled message
// is acted on, and no calm user is throttled.
func TestClockSteps(t *testing.T) {
	e := newEvening(t, buildStepped(t))
	for _, step := range []time.Duration{20 * time.Second, 50 * time.Second, 61 * time.Second, 2 * time.Hour, 48 * time.Hour} {
		for _, off := range []time.Duration{step, 0, -step, 0} {
			e.set(off)
			<-time.After(*stepTime)
		}
	}
	e.end()
}

// TestStalls stops the process of a running chatguard for a time, and sets its clock before it
// continues. Spammers are throttled, and calm users are not. Messages that are more than a minute
// old when the process continues get no penalty.
func TestStalls(t *testing.T) {
	binary := buildStepped(t)
	for _, length := range strings.Split(*stalls, ",") {
		stall, err := time.ParseDuration(length)
		must(t, err)
		for _, off := range []time.Duration{0, -2 * time.Hour} {
			t.Run(fmt.Sprintf("%s, clock %s off", length, off), func(t *testing.T) {
				t.Parallel()
				e := newEvening(t, binary)
				<-time.After(*stepTime)
				e.stall(stall, off)
				<-time.After(*stepTime)
				e.end("too old")
			})
		}
	}
}
