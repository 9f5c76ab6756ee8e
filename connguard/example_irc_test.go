package connguard_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// ircServer is a server of lines over TCP, with three commands of IRC. A real one checks passwords.
type ircServer struct {
	door    *connguard.Door
	clients sync.WaitGroup
}

func (s *ircServer) run(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		s.clients.Go(func() { s.serve(conn) })
	}
}

func (s *ircServer) serve(conn net.Conn) {
	defer conn.Close()
	session, err := s.door.Accept(context.Background(), conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr())
	if err != nil {
		text, _ := connguard.Answer(err)
		fmt.Fprintf(conn, "ERROR :%s\r\n", text)
		return
	}
	defer session.Close()
	fmt.Fprint(conn, ":chat NOTICE * :Choose a NICK\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute)) // to sign in
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		command, rest, _ := strings.Cut(lines.Text(), " ")
		switch command {
		case "NICK":
			if err := session.Admit(session.Context(), chatguard.User{ID: rest}, ""); err != nil {
				text, _ := connguard.Answer(err)
				fmt.Fprintf(conn, ":chat 433 * %s :%s\r\n", rest, text)
				return
			}
			_ = conn.SetReadDeadline(time.Time{})
			fmt.Fprintf(conn, ":chat 001 %s :Welcome\r\n", rest)
		case "PRIVMSG":
			room, text, _ := strings.Cut(rest, " :")
			fmt.Fprint(conn, post(session, room, text))
		case "QUIT":
			return
		}
	}
}

// post returns what the author of a message receives. room must be one that exists.
func post(session *connguard.Session, room, text string) string {
	user := session.User()
	verdict, err := session.Check(session.Context(), chatguard.Message{ChannelID: room, Text: text})
	switch {
	case err != nil: // the client hasn't signed in
		return ":chat 451 * :You have not registered\r\n"
	case !verdict.Allowed:
		return fmt.Sprintf(":chat 404 %s %s :Slow down: %s\r\n", user.ID, room, chatguard.FormatWait(verdict.RetryAfter))
	}
	return fmt.Sprintf(":%s PRIVMSG %s :%s\r\n", user.ID, room, text)
}

// A server of raw sockets: an IRC server that limits connections and messages.
func Example() {
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{chatguard.TokenBucketLimit("burst", 2, time.Hour)}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	door, err := connguard.New(guard, &connguard.Options{MaxConnections: 1, MaxConnectionsPerAddress: 2})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := &ircServer{door: door}
	server.clients.Go(func() { server.run(listener) })

	dial := func() *textproto.Conn {
		client, err := textproto.Dial("tcp", listener.Addr().String())
		if err != nil {
			log.Fatal(err)
		}
		hear(client)
		return client
	}
	anna, again, third := dial(), dial(), dial()
	for _, line := range []string{"PRIVMSG #lobby :hello", "NICK anna", "PRIVMSG #lobby :1", "PRIVMSG #lobby :2", "PRIVMSG #lobby :3"} {
		_ = anna.PrintfLine("%s", line)
		hear(anna)
	}
	_ = again.PrintfLine("NICK anna")
	hear(again)
	for _, client := range []*textproto.Conn{anna, again, third} {
		_ = client.Close()
	}
	_ = listener.Close()
	server.clients.Wait()
	// Output:
	// :chat NOTICE * :Choose a NICK
	// :chat NOTICE * :Choose a NICK
	// ERROR :You have too many connections open. Close one, then try again.
	// :chat 451 * :You have not registered
	// :chat 001 anna :Welcome
	// :anna PRIVMSG #lobby :1
	// :anna PRIVMSG #lobby :2
	// :chat 404 anna #lobby :Slow down: 60 min
	// :chat 433 * anna :You have too many connections open. Close one, then try again.
}

// hear prints the next line that a client receives.
func hear(client *textproto.Conn) {
	line, err := client.ReadLine()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(line)
}
