// Package connguard limits the connections of a chat server, whatever carries them. It has the keys
// under which the addresses of clients are counted.
package connguard
