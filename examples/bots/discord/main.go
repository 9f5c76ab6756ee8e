// Command discord is a bot that deletes throttled messages in the channels of Discord's servers,
// and times their authors out. It needs the permissions to manage messages and to time out members.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/sqlitestore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	session, err := discordgo.New("Bot " + os.Getenv("DISCORD_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, session, "discord.db", nil); err != nil {
		log.Fatal(err)
	}
}

// run moderates until the context ends. After a reconnect, Discord delivers at once what was
// written meanwhile.
func run(ctx context.Context, session *discordgo.Session, db string, opts *chatguard.Options) error {
	policy := chatguard.DefaultPolicy()
	policy.Penalties.Ladder = []chatguard.Penalty{
		{Action: chatguard.ActionTimeout, Duration: 10 * time.Second},
		{Action: chatguard.ActionTimeout, Duration: 5 * time.Minute},
	}
	guard, err := chatguard.New(policy, opts)
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

	b := bot{guard}
	session.SyncEvents = true // otherwise, messages are judged in any order
	session.Identify.Intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages
	session.AddHandler(b.message)
	if err = session.Open(); err == nil {
		<-ctx.Done()
		err = session.Close()
	}
	end()
	return errors.Join(err, <-saved, store.Close())
}

type bot struct{ guard *chatguard.Guard }

// message judges a message of a server's channel, and punishes its author if it is throttled.
func (b bot) message(s *discordgo.Session, m *discordgo.MessageCreate) {
	if m.GuildID == "" || m.Author.Bot {
		return
	}
	verdict, err := b.guard.Check(context.Background(), chatguard.Message{
		ID:        m.ID,
		ChannelID: m.ChannelID,
		User:      chatguard.User{ID: m.Author.ID, Login: m.Author.Username, Roles: roles(s, m)},
		Text:      m.Content,   // empty without the intent for contents
		SentAt:    m.Timestamp, // by Discord's clock
	})
	if err != nil {
		log.Print(err) // a mistake in this program
		return
	}
	if verdict.Allowed {
		return
	}
	if verdict.Penalty.Action == chatguard.ActionTimeout {
		until := time.Now().Add(verdict.Penalty.Duration)
		err = s.GuildMemberTimeout(m.GuildID, m.Author.ID, &until)
	}
	if err = errors.Join(err, s.ChannelMessageDelete(m.ChannelID, m.ID)); err != nil {
		log.Print(err)
	}
}

// roles returns the roles of a message's author. A moderator is a member who may delete messages of
// others in the channel. A server's own roles are in m.Member.Roles.
func roles(s *discordgo.Session, m *discordgo.MessageCreate) chatguard.Roles {
	permissions, err := s.State.MessagePermissions(m.Message)
	if err != nil {
		log.Print(err)
	}
	if permissions&discordgo.PermissionManageMessages != 0 {
		return chatguard.Roles{chatguard.RoleModerator}
	}
	return nil
}
