package chatguard_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/chatguard/chatguard"
)

// Nobody repeats a text within half a minute, and a text that several people paste passes three
// times.
func ExampleLimit_repeatedText() {
	repeats := chatguard.SlidingLogLimit("no-repeats", 1, 30*time.Second)
	repeats.Per = chatguard.PerUserText
	repeats.FromLength = 15 // "good morning" never counts
	copies := chatguard.SlidingLogLimit("copy-paste", 3, 30*time.Second)
	copies.Per = chatguard.PerText
	copies.Similar = true     // the variants of a text count together
	copies.Strikes = false    // at most delete: those who write it may be many, and innocent
	copies.CountEmotes = true // a wall of emotes is a text, too
	guard := newGuard(repeats, copies)

	say := func(user, text string, kinds ...string) {
		verdict, err := guard.Check(context.Background(), chatguard.Message{
			ChannelID: "lobby", User: chatguard.User{ID: user}, Text: text, Kinds: kinds,
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %v\n", user, verdict)
	}
	say("anna", "has anybody seen my cat?")
	say("anna", "Has anybody seen my CAT?!?")
	say("anna", "has anybody seen my cat?")
	say("anna", "Good morning")
	say("anna", "Good morning")
	for _, user := range []string{"bot1", "bot2", "bot3", "bot4"} {
		say(user, "@anna free coins at c0ins.example "+user[3:])
	}
	wave := "wave wave wave sun wave wave"
	say("ben", wave, chatguard.KindEmotes)
	say("ben", wave, chatguard.KindEmotes)
	// Output:
	// anna: allowed
	// anna: allowed
	// anna: throttled by no-repeats, retry after 30s
	// anna: allowed
	// anna: allowed
	// bot1: allowed
	// bot2: allowed
	// bot3: allowed
	// bot4: throttled by copy-paste, retry after 30s
	// ben: allowed
	// ben: allowed
}

// A server that may not keep what people write keeps prints, and can still judge again what was
// written.
func ExampleGuard_TextPrint() {
	repeats := chatguard.SlidingLogLimit("no-repeats", 1, 30*time.Second)
	repeats.Per = chatguard.PerUserText
	newGuard := func() *chatguard.Guard {
		guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{repeats}}, &chatguard.Options{
			TextKey: [16]byte([]byte("sixteen  secrets")), // from your secrets: prints of another key differ
		})
		if err != nil {
			log.Fatal(err)
		}
		return guard
	}
	guard := newGuard()
	var record []byte // prints of one length, one after another
	for range 2 {
		verdict, err := guard.Check(context.Background(), chatguard.Message{
			ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Text: "has anybody seen my cat?", SentAt: noon,
		})
		if err != nil {
			log.Fatal(err)
		}
		if record, err = verdict.Print.AppendBinary(record); err != nil {
			log.Fatal(err)
		}
	}

	again := newGuard()
	one, err := again.TextPrint("HAS ANYBODY seen my cat?").MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		var print chatguard.TextPrint
		if err := print.UnmarshalBinary(record[:len(one)]); err != nil {
			log.Fatal(err)
		}
		record = record[len(one):]
		verdict, err := again.Check(context.Background(), chatguard.Message{
			ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Print: &print, SentAt: noon,
		})
		fmt.Println(verdict, err)
		fmt.Println(print.IsZero(), verdict.Print == print, print == again.TextPrint("Has anybody seen my cat?"))
	}
	// Output:
	// allowed <nil>
	// false true true
	// throttled by no-repeats, retry after 30s <nil>
	// false true true
}
