// Package chat is the loop receive → judge → act → report, free of any platform. It knows neither Twitch nor the store nor the
// dashboard: a Source brings messages, a Moderator carries out penalties, and a callback is told how that went.
//
//	Source ──> Guard.CheckAll ──> backlog ──> Moderator ──> Outcome
//	                  │
//	                  └─> commands, notices ──> voice ──> Moderator
package chat
