//go:build browser

package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
)

// regulars are the users who have written before the crowd comes.
var regulars = []string{
	"cosywren", "gentleotter", "fuzzydormouse", "lunarrobin", "youngmarten", "mellowstoat", "cosyowl", "quietheron", "mapletoad", "amberfinch", "olivejackdaw",
	"hazelpuffin", "pluckykestrel", "tidybadger", "mossyvole", "brightlinnet", "calmplover", "rustysparrow", "dewysnipe", "wittynewt",
}

// fillDatabase fills the database of a configuration with hours of chat until now, as if chatguard
// had been running.
func fillDatabase(t *testing.T, server *faketwitch.Server, c config.Config, hours int) {
	t.Helper()
	store, err := persist.Open(t.Context(), c.Database, &persist.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := chatguard.New(c.Policy, &chatguard.Options{Observer: store.Observe})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), guard); err != nil {
		t.Fatal(err)
	}
	talk(t, guard, store, server.UserID(demoChannel), server.UserID, time.Duration(hours)*time.Hour)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Run(ended, guard); err != nil { // writes everything and returns
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// stream is how long the channel has been live, with many more users and messages.
const stream = 70 * time.Minute

// talk makes the regulars write in waves. Once the stream has begun, many others write too. Now and
// then a user writes too fast.
func talk(t *testing.T, guard *chatguard.Guard, store *persist.Store, channel string, idOf func(login string) string, length time.Duration) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	now := time.Now()
	for at := now.Add(-length); at.Before(now); {
		wave := 1 + math.Sin(now.Sub(at).Minutes()/7)*math.Cos(now.Sub(at).Minutes()/19)
		pause, login := 25*random.ExpFloat64()/(0.5+wave), regulars[random.IntN(len(regulars))]
		if now.Sub(at) < stream && random.IntN(100) > 0 {
			pause, login = 0.15*random.ExpFloat64()/(0.5+wave), fmt.Sprint(login, random.IntN(50))
		}
		at = at.Add(time.Duration((0.05 + pause) * float64(time.Second)))
		for range slices.Max([]int{1, random.IntN(40) - 33}) {
			m := chatguard.Message{
				ID: fmt.Sprint(at.UnixNano()), ChannelID: channel, Text: "one more, and another one",
				User: chatguard.User{ID: idOf(login), Login: login, DisplayName: login}, SentAt: at,
			}
			v, err := guard.Check(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if v.EntryID != 0 {
				store.Report(journal.Outcome{Entry: v.EntryID, At: at, Action: chatguard.Delete, Result: journal.Done})
			}
		}
	}
}
