// Package twitch connects chatguard to Twitch: IRC and EventSub each read chat and turn it into messages, Moderator carries out penalties over
// Helix, Twitch's HTTP API.
//
// It knows nothing of limits, of the store or of the dashboard. What Twitch sends is hostile until read: sizes are bounded, lines that
// can't be understood are counted and skipped, and a request that would do more than meant is refused before it is sent.
package twitch
