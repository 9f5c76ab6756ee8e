// Package twitch contains what chatguard's connections to Twitch share. It checks messages and
// removals, and keeps the channels to read and the connection's status. It also contains the queue
// from reader to consumer, delays, and the errors. Packages irc and eventsub each read chat and
// turn it into messages. Package helix carries out penalties, and package token keeps the bot's
// token valid. Both use package api for HTTP.
//
// None of these packages knows limits, the store or the dashboard. They don't trust what Twitch
// sends: they bound its size, and count and skip lines that can't be parsed. They refuse to send a
// request that would do more than intended.
package twitch
