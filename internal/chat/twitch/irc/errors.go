package irc

import "errors"

// ErrLogin means that Twitch's chat refused the login or token. Trying again can't help.
var ErrLogin = errors.New("Twitch chat refused the login; run `chatguard login`, or set CHATGUARD_TWITCH_TOKEN to a valid token of the bot's account")

// Errors that end one connection. The next connection is made after a delay.
var (
	errRefused = errors.New("the chat server refused the token; trying a different one")
	errNoTags  = errors.New("the chat server can't send tags, which say who wrote a message")
)
