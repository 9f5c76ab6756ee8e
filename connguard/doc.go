// Package connguard limits the connections of a chat server, whatever carries them: TCP, the
// upgrader of a WebSocket library, or a broker. For servers on net/http, package httpguard does the
// same with middleware.
//
// A [Door] admits a connection by its user and address, and refuses it if that user or address has
// connected too often, or has too many connections open. The [Session] of an admitted connection
// judges its messages. Close it when the connection is closed.
//
//	door, err := connguard.New(guard, nil)
//
//	// for each connection:
//	session, err := door.Admit(ctx, user, addr, "lobby")
//	if err != nil {
//		text, wait := connguard.Answer(err)
//		…
//		return
//	}
//	defer session.Close() // also if this function panics
//	verdict, err := session.Check(session.Context(), chatguard.Message{Text: text})
//
// A server that learns later who connects calls [Door.Accept] first, and then [Session.Admit]. So
// an address can't guess passwords without limit.
//
// The package imports only chatguard and the standard library, without net/http. It starts no
// goroutine, and never waits. Its memory is bounded: by the open connections, and by 16 MiB each
// for how often users, addresses and blocks of addresses connect. Everything is safe for concurrent
// use.
package connguard
