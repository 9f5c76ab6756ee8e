// Package httpguard puts a chatguard.Guard in front of HTTP handlers. It works with net/http and
// everything built on it. These are the three shortest programs.
//
// An HTTP API: [Limit] judges each request by its client's key, sets the rate-limit headers, and
// answers 429 if there are too many.
//
//	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{
//		chatguard.TokenBucketLimit("requests", 100, time.Second),
//	}}, nil)
//	limit, err := httpguard.Limit(guard, httpguard.ByKey("Authorization", userOf), nil)
//	err = http.ListenAndServe("localhost:8000", limit(api))
//
// A chat over WebSocket: [Sessions] puts a [connguard.Door] in front of a handler. It limits
// connections, and identifies their users at the handshake. The session judges each message.
//
//	door, err := connguard.New(guard, nil)
//	in, err := httpguard.Sessions(door, account, nil)
//	err = http.ListenAndServe("localhost:8000", in(chat))
//
//	// in chat, for each message:
//	session := httpguard.SessionFrom(r.Context())
//	verdict, err := session.Check(session.Context(), chatguard.Message{Text: text})
//	switch {
//	case err != nil:
//		log.Print(err) // the message can't be judged, because of a mistake in the program
//		return
//	case verdict.Allowed:
//		broadcast(text)
//	default:
//		conn.Write(ctx, websocket.MessageText, verdict.AppendJSON(nil)) // the client counts down
//	}
//
// Both, in one server, with one Guard for messages and another for requests:
//
//	mux.Handle("/chat", in(chat))
//	mux.Handle("/api/", limit(api))
//
// [ByKey], [ByAddress], [ByValue], [Anonymous] and [FirstOf] identify users. [SetHeaders] describes
// any verdict in the headers of a response.
//
// The package imports only chatguard, connguard and the standard library, and starts no goroutine.
// Everything is safe for concurrent use.
package httpguard
