// Package twitchbot is the bot's account on Twitch as the chat loop sees it: a Connection is the
// loop's Source and provides its Moderator. It maintains the token, reads with or without it, and
// knows in which channels the bot is a moderator. In the other channels, chatguard only observes.
//
// It connects the chat loop with Twitch's protocols, and knows neither limits nor the store nor the
// dashboard.
package twitchbot
