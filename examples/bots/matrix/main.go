// Command matrix is a bot that removes throttled messages from Matrix rooms. Its power level must
// allow it to redact messages of others.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/sqlitestore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := mautrix.NewClient(os.Getenv("MATRIX_SERVER"), id.UserID(os.Getenv("MATRIX_USER")), os.Getenv("MATRIX_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, client, "matrix.db", nil); err != nil {
		log.Fatal(err)
	}
}

// position is where the homeserver keeps which messages the bot has received. So after a restart,
// the bot receives those that were sent meanwhile, and none of them twice.
const position = "com.example.chatguard.position"

// run moderates until the context ends.
func run(ctx context.Context, client *mautrix.Client, db string, opts *chatguard.Options) error {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), opts)
	if err != nil {
		return err
	}
	store, err := sqlitestore.Open(ctx, db, guard, nil)
	if err != nil {
		return err
	}
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	saved := make(chan error, 1)
	go func() { saved <- store.Run(background) }()

	b := bot{guard, client}
	client.Store = mautrix.NewAccountDataStore(position, client)
	client.StateStore = mautrix.NewMemoryStateStore()
	syncer := mautrix.NewDefaultSyncer()
	syncer.FilterJSON = &mautrix.Filter{AccountData: &mautrix.FilterPart{NotTypes: []event.Type{event.NewEventType(position)}}}
	syncer.OnSync(client.DontProcessOldEvents)
	syncer.OnEvent(client.StateStoreSyncHandler) // keeps power levels up to date
	syncer.OnEventType(event.EventMessage, b.message)
	client.Syncer = syncer
	if err = client.SyncWithContext(ctx); ctx.Err() != nil {
		err = nil
	}
	end()
	return errors.Join(err, <-saved, store.Close())
}

type bot struct {
	guard  *chatguard.Guard
	client *mautrix.Client
}

// message judges a message, and removes it if it is throttled.
func (b bot) message(ctx context.Context, e *event.Event) {
	if e.Sender == b.client.UserID {
		return
	}
	verdict, err := b.guard.Check(ctx, chatguard.Message{
		ID:        e.ID.String(),
		ChannelID: e.RoomID.String(),
		User:      chatguard.User{ID: e.Sender.String(), Roles: b.roles(ctx, e)},
		Text:      e.Content.AsMessage().Body,
		SentAt:    sentAt(e, b.client.UserID.Homeserver(), time.Now()),
	})
	if err == nil && !verdict.Allowed {
		_, err = b.client.RedactEvent(ctx, e.RoomID, e.ID)
	}
	if err != nil {
		log.Print(err)
	}
}

// sentAt returns when a message was sent, by the clock of its sender's homeserver. A user can have
// a homeserver of their own, which states any time. So the times of others than our own are changed
// to be at most 10 minutes old: what a user can gain by a wrong time is what they may send in 10
// minutes.
func sentAt(e *event.Event, own string, now time.Time) time.Time {
	ms := e.Timestamp
	if e.Sender.Homeserver() != own {
		ms = min(max(ms, now.Add(-10*time.Minute).UnixMilli()), now.UnixMilli())
	}
	return time.UnixMilli(ms)
}

// roles returns the roles of a message's author. A moderator is a user whose power level allows
// them to redact messages of others.
func (b bot) roles(ctx context.Context, e *event.Event) chatguard.Roles {
	levels, err := b.client.StateStore.GetPowerLevels(ctx, e.RoomID)
	if err == nil && levels == nil { // the first message since the start
		if _, err = b.client.State(ctx, e.RoomID); err == nil {
			levels, err = b.client.StateStore.GetPowerLevels(ctx, e.RoomID)
		}
	}
	if err != nil {
		log.Print(err)
	}
	if levels != nil && levels.GetUserLevel(e.Sender) >= levels.Redact() {
		return chatguard.Roles{chatguard.RoleModerator}
	}
	return nil
}
