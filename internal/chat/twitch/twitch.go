// Package twitch contains what chatguard's connections to Twitch share: what a message and a
// removal must have, the channels to read and the connection's status, the queue from reader to
// consumer, delays, and the errors. Package irc and package eventsub each read chat and turn it
// into messages; package helix carries out penalties; package token keeps the bot's token valid;
// package api is the HTTP exchange below these two.
//
// None of them knows limits, the store or the dashboard. What Twitch sends is untrusted until
// parsed: sizes are bounded, lines that can't be parsed are counted and skipped, and a request that
// would do more than intended is refused before it is sent.
package twitch
