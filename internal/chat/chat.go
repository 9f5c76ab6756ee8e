// Package chat is the loop receive → judge → act → report, independent of any platform. It doesn't
// depend on Twitch, the store or the dashboard. A Source delivers messages, a Moderator carries out
// penalties, and a callback receives the outcomes.
//
//	Source ──> Guard.CheckAll ──> backlog ──> Moderator ──> Outcome
//	                  │
//	                  └─> commands, notices ──> announcer ──> Moderator
package chat
