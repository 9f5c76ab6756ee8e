package chat

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// While an observer gets a message, the Bot knows the color of its author's name, also if the
// author had another one before, or has none any more. The same ID in another channel is another
// user.
func TestBot_ColorOf(t *testing.T) {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	must(t, err)
	bot := New(Options{Guard: guard})
	var got []string
	guard.AddObserver(func(m chatguard.Message, v chatguard.Verdict) {
		got = append(got, m.ID+" "+bot.ColorOf(v.ChannelID, v.UserID))
	})
	said := func(id, user, color string) Message {
		m := message(id, user)
		m.Color = color
		return m
	}
	elsewhere := said("f", "7", "")
	elsewhere.ChannelID = "2"
	for _, batch := range [][]Message{
		{said("a", "7", "#1e90ff"), said("b", "8", ""), said("c", "7", "#1e90ff")},
		{said("d", "7", "#ff0000"), said("e", "8", "#00ff00")}, {elsewhere}, {said("g", "7", "")},
	} {
		bot.receive(context.Background(), context.Background(), time.Time{}, batch)
	}
	if want := []string{"a #1e90ff", "b ", "c #1e90ff", "d #ff0000", "e #00ff00", "f ", "g "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBot_ColorOfIsBounded(t *testing.T) {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	must(t, err)
	bot := New(Options{Guard: guard})
	for i := range 3 * maxColors {
		bot.colors.note(author{"1", fmt.Sprint(i)}, "#1e90ff")
	}
	if n := bot.colors.authors.Len(); n > 2*maxColors {
		t.Errorf("%d colors are kept, want at most %d", n, 2*maxColors)
	}
	if got := bot.ColorOf("1", fmt.Sprint(3*maxColors-1)); got != "#1e90ff" {
		t.Errorf("the last user's color is %q", got)
	}
}
