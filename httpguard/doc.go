// Package httpguard puts a chatguard.Guard in front of HTTP handlers.
//
// [Sessions] limits connections and identifies their users at the handshake. It gives the handler a
// [Session], which judges each message that arrives over the connection. [SetHeaders] describes a
// verdict in the headers of a response.
//
// The package imports only chatguard and the standard library.
package httpguard
