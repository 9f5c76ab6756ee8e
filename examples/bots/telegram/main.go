// Command telegram is a bot that deletes throttled messages in Telegram's groups. It must be an
// administrator of the group who may delete messages and restrict members.
package main

import (
	"cmp"
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"strconv"
	"time"

	tele "gopkg.in/telebot.v4"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/sqlitestore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	poller := &tele.LongPoller{Timeout: 10 * time.Second, AllowedUpdates: []string{"message", "chat_member"}}
	if err := run(ctx, tele.Settings{Token: os.Getenv("TELEGRAM_TOKEN"), Poller: poller}, "telegram.db", nil); err != nil {
		log.Fatal(err)
	}
}

// run moderates until the context ends. Telegram keeps messages for a bot that is away for up to a
// day, and then delivers all of them at once.
func run(ctx context.Context, settings tele.Settings, db string, opts *chatguard.Options) error {
	settings.Synchronous = true // otherwise, messages are judged in any order
	client, err := tele.NewBot(settings)
	if err != nil {
		return err
	}
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

	b := bot{guard: guard, client: client, admins: map[int64]map[int64]bool{}}
	client.Handle(tele.OnText, b.message)
	client.Handle(tele.OnMedia, b.message)
	client.Handle(tele.OnChatMember, b.member)
	context.AfterFunc(ctx, client.Stop)
	client.Start() // returns after Stop, when no more messages are judged
	end()
	return errors.Join(<-saved, store.Close())
}

type bot struct {
	guard  *chatguard.Guard
	client *tele.Bot
	admins map[int64]map[int64]bool // by chat and user
}

// message judges a message of a group, and deletes it if it is throttled.
func (b *bot) message(c tele.Context) error {
	m := c.Message()
	if !m.FromGroup() || m.Sender == nil {
		return nil
	}
	roles, err := b.roles(m.Chat, m.Sender)
	if err != nil {
		return err
	}
	verdict, err := b.guard.Check(context.Background(), chatguard.Message{
		ID:        strconv.Itoa(m.ID),
		ChannelID: strconv.FormatInt(m.Chat.ID, 10),
		User:      chatguard.User{ID: strconv.FormatInt(m.Sender.ID, 10), Login: m.Sender.Username, Roles: roles},
		Text:      cmp.Or(m.Text, m.Caption),
		SentAt:    m.Time(), // by Telegram's clock, in whole seconds
	})
	if err != nil || verdict.Allowed {
		return err
	}
	return c.Delete()
}

// roles asks Telegram once for the administrators of a chat.
func (b *bot) roles(chat *tele.Chat, user *tele.User) (chatguard.Roles, error) {
	if b.admins[chat.ID] == nil {
		list, err := b.client.AdminsOf(chat)
		if err != nil {
			return nil, err
		}
		b.admins[chat.ID] = map[int64]bool{}
		for _, member := range list {
			b.admins[chat.ID][member.User.ID] = true
		}
	}
	if b.admins[chat.ID][user.ID] {
		return chatguard.Roles{chatguard.RoleModerator}, nil
	}
	return nil, nil
}

// member forgets the administrators of a chat, because one of its members has changed.
func (b *bot) member(c tele.Context) error {
	delete(b.admins, c.Chat().ID)
	return nil
}
