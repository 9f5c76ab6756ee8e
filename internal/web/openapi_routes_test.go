//go:build !race

package web

import (
	"reflect"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/lab"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/twitchsignin"
	"github.com/chatguard/chatguard/internal/webhook"
)

// typeOf returns the type that JSON is decoded into or encoded from.
func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// documented describes each route, by its pattern.
var documented = map[string]about{
	"POST /session": {
		says:  "Sign in with the one-time code of a sign-in link, or with a token. The answer sets the session's cookie.",
		reads: typeOf[access.Secret](), answers: typeOf[access.SignedInAs](), headers: []string{"Set-Cookie"}},
	"GET /sign-in": {
		says:    "The ways to sign in with a Twitch account: by authorization code at an address, or by device code. Empty if there are none.",
		answers: typeOf[twitchsignin.Ways]()},
	"POST /session/device": {
		says:    "Get a device code with which somebody at this machine signs in with a Twitch account. The answer sets a cookie for GET /session/device.",
		answers: typeOf[twitchsignin.Device](), headers: []string{"Set-Cookie"}},
	"GET /session/device": {
		says:    "Whether the device code has been entered on Twitch. If so, the answer sets the session's cookie.",
		answers: typeOf[twitchsignin.Device](), headers: []string{"Set-Cookie"}},
	"GET /healthz": {says: "Whether the process is alive.", answers: typeOf[health]()},
	"GET /readyz": {
		says:    "Whether messages are judged and saved, together with the other nodes: 503 if not, with the reasons for signed-in callers.",
		answers: typeOf[health](), unready: true},
	"GET /metrics":      {says: "Metrics for Prometheus, for signed-in callers and, without a public_url, for this machine.", form: "text/plain"},
	"GET /openapi.json": {says: "This document.", answers: typeOf[map[string]any]()},
	"GET /session":      {says: "Who is signed in, and what they may do.", answers: typeOf[access.SignedInAs]()},
	"DELETE /session":   {says: "Sign out."},
	"GET /status": {
		says: "Connections, database, shared store, and how busy chat is.", query: params(inChannel), answers: typeOf[namedStatus]()},
	"GET /access": {
		says:    "The tokens, the sign-in links that nobody has used yet, and the sessions. Without their secrets.",
		answers: typeOf[shownGrants]()},
	"POST /tokens": {
		says:  "Make a named token. Only this answer contains it. A name has one token at a time.",
		reads: typeOf[tokenWanted](), answers: typeOf[madeToken]()},
	"DELETE /tokens/{name}": {
		says:    "End a name's token, sign-in links and sessions, including open pages.",
		answers: typeOf[auth.Revoked]()},
	"POST /links": {
		says:  "Make a link that signs one person in, once, within 15 minutes.",
		reads: typeOf[linkWanted](), answers: typeOf[madeLink]()},
	"DELETE /links/{link}":       {says: "End a sign-in link that nobody has used yet."},
	"DELETE /sessions/{session}": {says: "End a session, and close its open pages."},
	"GET /nodes": {
		says:    "The nodes that share limits, and what this node has done with the shared store. If this node is alone, the mode is off and the list is empty.",
		answers: typeOf[Nodes]()},
	"GET /algorithms": {
		says:    "The algorithms of limits with their parameters: bounds, suggested values, and which ones roles and users may override. Durations are in nanoseconds.",
		answers: typeOf[algorithmList]()},
	"GET /channels": {
		says: "The channels served; the dashboard shows the first one by default. Its unread says why a channel isn't read now. Channels whose ID isn't known yet are in unidentified, for callers who may see all channels.", answers: typeOf[shownChannels]()},
	"GET /overlay": {
		says:  "What the overlay for streams shows of a channel: how many users are throttled now, and who was throttled last, newest first.",
		query: params(inOneChannel), answers: typeOf[live.Overlay](), tagged: true},
	"GET /viewer": {
		says:  "What a viewer who has signed in with Twitch may know about themselves in a channel. 404 if there is no page for viewers.",
		query: params(inChannelOfViewers), answers: typeOf[viewerStanding]()},
	"DELETE /viewer": {says: "Sign the viewer out."},
	"GET /throttled": {
		says:  "Who is throttled now, by what, until when and how often. With within, also who was throttled in that many seconds.",
		query: params(inChannel, withinSeconds), answers: typeOf[throttledUsers]()},
	"GET /channels/{channel}/messages": {
		says:  "The messages around that of a journal entry, or around the last one of a user or of all, oldest first. None if it is older than 10 minutes, or not in memory.",
		query: params(aroundEntry, aroundUser, numberAround), answers: typeOf[struct {
			Messages []live.Said `json:"messages"`
		}]()},
	"GET /rates": {
		says:  "Messages and throttled messages per step of the last hour or day, oldest first; null if unknown.",
		query: params(inChannel, overSpan), answers: typeOf[live.RatesOver]()},
	"GET /live": {
		says:  "A WebSocket that sends Frames: a snapshot, then changes. With feed and after it resumes after that frame if possible.",
		query: params(inChannel, ofFeed, afterSeq), webSocket: true},
	"POST /channels/{channel}/pause": {
		says: "Make the channel only observe until it is resumed.", answers: typeOf[switchedTo]()},
	"POST /channels/{channel}/resume": {
		says: "End a pause.", answers: typeOf[switchedTo]()},
	"POST /channels/{channel}/raid": {
		says: "Start raid mode, for the default or a given duration.", reads: typeOf[lengthWanted](), optional: true, answers: typeOf[switchedTo]()},
	"DELETE /channels/{channel}/raid": {
		says: "End raid mode.", answers: typeOf[switchedTo]()},
	"PATCH /channels/{channel}/modes": {
		says:  "Switch modes of the channel's chat, such as slow mode, as Twitch names them. Modes that are left out stay as they are. Only where acts is true.",
		reads: typeOf[journal.ChatModesChange](), answers: typeOf[modesSwitched]()},
	"GET /channels/{channel}/settings": {
		says: "The settings for raid mode, notices and timeouts, with their ETag.", answers: typeOf[settingsShown](), headers: []string{"ETag"}},
	"PUT /channels/{channel}/settings": {
		says:  "Replace the settings that have the ETag. Durations are from 1 s (refills: 1 ms) to 24 h (the cooldown: 7 days, timeouts: 14 days).",
		match: required, reads: typeOf[control.Settings](), answers: typeOf[settingsSaved](), headers: []string{"ETag"}},
	"DELETE /channels/{channel}/settings": {
		says: "Go back to the configuration file's settings.", match: accepted, answers: typeOf[settingsSaved](), headers: []string{"ETag"}},
	"GET /setup": {
		says:  "What is left to do until the channel's limits are enforced: the steps with their states. 501 if there is no bot on Twitch.",
		query: params(inChannel), answers: typeOf[channelSetup]()},
	"GET /login": {
		says: "The latest login of the bot's account. Its tokens are never sent.", answers: typeOf[Login]()},
	"POST /login": {
		says:  "Start a login of the bot's account: show the code to the person who opens the address. One login at a time.",
		reads: typeOf[loginWanted](), optional: true, answers: typeOf[Login]()},
	"DELETE /login": {
		says: "Cancel the login in progress. An earlier login stays valid."},
	"GET /webhooks": {
		says:    "Where events are sent, those of the configuration first. Addresses are shortened, and secrets are never sent. 501 if chatguard sends none.",
		answers: typeOf[webhookList]()},
	"POST /webhooks": {
		says:  "Add a webhook. The secret of one with the format signed is in this answer only.",
		reads: typeOf[webhookWanted](), answers: typeOf[webhookChanged]()},
	"PUT /webhooks/{webhook}": {
		says:  "Replace a webhook that isn't of the configuration. It keeps its address if url is left out, and its secret unless new_secret is true or the address is another one.",
		reads: typeOf[webhookWanted](), answers: typeOf[webhookChanged]()},
	"DELETE /webhooks/{webhook}": {
		says: "Delete a webhook that isn't of the configuration, with its deliveries.", answers: typeOf[webhookSaved]()},
	"POST /webhooks/{webhook}/test": {
		says: "Send a test, once, and say what happened. A test that arrives switches the webhook on, and waiting deliveries follow.", answers: typeOf[webhook.Tested]()},
	"GET /webhooks/{webhook}/deliveries": {
		says: "What waits to be sent, and what was given up.", answers: typeOf[webhookDeliveries]()},
	"POST /webhooks/{webhook}/deliveries/{delivery}/retry": {
		says: "Send what was given up again, after what is waiting.", answers: typeOf[webhookSaved]()},
	"DELETE /webhooks/{webhook}/deliveries/{delivery}": {
		says: "Delete what was given up.", answers: typeOf[webhookSaved]()},
	"GET /channels/{channel}/policy": {
		says: "The stated policy, with its ETag.", answers: typeOf[chatguard.Policy](), headers: []string{"ETag"}},
	"PUT /channels/{channel}/policy": {
		says: "Replace the policy that has the ETag.", match: required, reads: typeOf[chatguard.Policy](), answers: typeOf[policies.Revised](),
		headers: []string{"ETag"}},
	"DELETE /channels/{channel}/policy": {
		says: "Go back to the configuration file's policy.", match: accepted, answers: typeOf[policies.Revised](), headers: []string{"ETag"}},
	"GET /channels/{channel}/policy/revisions": {
		says: "Who changed the policy, when and how; newest first.", query: params(beforeRevision, revisionsAtMost), answers: typeOf[revisionPage]()},
	"GET /channels/{channel}/policy/differences": {
		says: "How the stated policy differs from the configuration file's.", answers: typeOf[struct {
			Changes []journal.Change `json:"changes"`
		}]()},
	"GET /channels/{channel}/policy/export": {
		says: "The stated policy in the configuration file's format.", form: "application/toml",
		headers: []string{"Content-Disposition"}},
	"POST /channels/{channel}/policy/revert": {
		says:  "Put the policy of an earlier revision in force again, as a new revision; 0 is the configuration file's policy.",
		match: required, reads: typeOf[revertWanted](), answers: typeOf[policies.Revised](), headers: []string{"ETag"}},
	"POST /channels/{channel}/preview": {
		says:  "What would have happened under another policy, compared with the current one, over the recorded hours; both as if enforced.",
		reads: typeOf[previewWanted](), answers: typeOf[previewed]()},
	"GET /lab": {
		says:    "Whether the Lab belongs to a dashboard, and the channels whose recorded traffic it may be asked about.",
		answers: typeOf[labOffer]()},
	"POST /lab": {
		says:  "What limits would do with messages or traffic: the decision on each message in each lane, and figures. It changes nothing.",
		reads: typeOf[lab.Question](), answers: typeOf[lab.Answer]()},
	"GET /channels/{channel}/top": {
		says:  "The most throttled users of the channel's day, of its running stream, or since a time, with sums and the same part of the period before.",
		query: params(sinceTime), answers: typeOf[topUsers]()},
	"GET /channels/{channel}/week": {
		says: "How much of one limit that everyone shares was left over the last seven days, as for a user. " +
			"The default is the first daily limit that everyone shares, if there is one.",
		query: params(ofLimit), answers: typeOf[week]()},
	"GET /channels/{channel}/summary": {
		says: "What happened in the last stream, and in the running one so far. Without a known stream, it is the last complete day.", answers: typeOf[summaries]()},
	"GET /users": {
		says: "Find users by login, display name or ID; without q, the most recent writers.", query: params(inOneChannel, searched, whoNoted), answers: typeOf[foundUsers]()},
	"GET /channels/{channel}/overrides": {
		says: "The users with an override, ordered by ID.", query: params(afterUser, pageLength), answers: typeOf[overriddenUsers]()},
	"GET /channels/{channel}/users/{id}": {
		says: "A user's standing in every limit, and why: the verdict that their next message would get now.", answers: typeOf[card]()},
	"GET /channels/{channel}/users/{id}/week": {
		says:  "How much of one limit per user a user had left over the last seven days. The default is the first daily limit, if there is one. A limit per week or month has no points before its present period.",
		query: params(ofLimit), answers: typeOf[week]()},
	"GET /channels/{channel}/users/{id}/notes": {
		says: "The moderators' notes on a user.", answers: typeOf[userNotes]()},
	"POST /channels/{channel}/users/{id}/notes": {
		says: "Add a note on a user, of up to 1000 bytes.", reads: typeOf[noteWanted](), answers: typeOf[changedNote]()},
	"DELETE /channels/{channel}/users/{id}/notes/{note}": {
		says: "Delete a note on a user.", answers: typeOf[changedNote]()},
	"POST /channels/{channel}/users/{id}/grant": {
		says: "Give extra messages in one limit; the default is the first daily limit.", reads: typeOf[grantWanted](), answers: typeOf[amended]()},
	"POST /channels/{channel}/users/{id}/reset": {
		says: "Clear what a user has used, their strikes and their grants.", answers: typeOf[amended]()},
	"POST /channels/{channel}/users/{id}/exempt": {
		says: "Let a user write without limits, for a while (10m, 1h30m, 2d) or permanently.", reads: typeOf[lengthWanted](), optional: true, answers: typeOf[amended]()},
	"POST /channels/{channel}/users/{id}/pardon": {
		says: "Forgive the user's latest run of messages that were throttled without a gap: lift the penalty, take the strikes back. " +
			"Says what was undone, and what was not.",
		answers: typeOf[pardonedUser]()},
	"DELETE /channels/{channel}/users/{id}/pardon/{pardon}": {
		says:    "Undo a pardon of the last five minutes, by its ID. 409 if something has changed since. A penalty that was lifted isn't given again.",
		answers: typeOf[unpardoned]()},
	"POST /channels/{channel}/users/{id}/timeout": {
		says:  "Time a user out in the chat for 1s to 14d. 409 if a ban, or a timeout that lasts longer, is known; replace confirms it.",
		reads: typeOf[timeoutWanted](), answers: typeOf[acted]()},
	"DELETE /channels/{channel}/users/{id}/timeout": {
		says: "End a user's timeout, also one that somebody else gave; the answer says who. 409 if a ban is known. " +
			"With given, undo one's own timeout instead: 409 if another is in force; a timeout that it replaced is given again for the rest of its time.",
		query: params(actGiven), answers: typeOf[acted]()},
	"POST /channels/{channel}/users/{id}/ban": {
		says: "Ban a user from the chat until someone unbans them.", reads: typeOf[banWanted](), optional: true, answers: typeOf[acted]()},
	"DELETE /channels/{channel}/users/{id}/ban": {
		says: "Unban a user, also after somebody else's ban; the answer says who. 409 if a timeout is known. " +
			"With given, undo one's own ban instead: 409 if another is in force; a timeout that it replaced is given again for the rest of its time.",
		query: params(actGiven), answers: typeOf[acted]()},
	"PUT /channels/{channel}/users/{id}/override": {
		says: "Replace a user's override.", match: accepted, reads: typeOf[chatguard.UserOverride](), answers: typeOf[amended]()},
	"DELETE /channels/{channel}/users/{id}/override": {
		says: "Remove a user's override.", match: accepted, answers: typeOf[amended]()},
	"GET /journal": {
		says:  "Throttled messages and what was done about them, newest first. As CSV, all that match.",
		query: params(inChannel, ofUser, ofName, ofEntry, ofLimit, ofAction, ofResult, fromTime, untilTime, beforeEntry, pageLength, inFormat),
		form:  "text/csv", answers: typeOf[entryPage](), headers: []string{"Content-Disposition"}},
	"POST /journal/{entry}/pardon": {
		says: "Forgive a single throttled message: lift its penalty, take its strike back.", answers: typeOf[pardonedEntry]()},
	"GET /audit": {
		says:  "Who changed what, newest first. As CSV, all that match.",
		query: params(inChannel, toUser, ofName, ofAuthor, ofChange, beforeChange, pageLength, inFormat), form: "text/csv", answers: typeOf[auditPage](),
		headers: []string{"Content-Disposition"}},
	"POST /check": {
		says: "Judge a message of another chat: 200 if it may be shown, 429 if it must be dropped, with the verdict.", throttles: true,
		reads: typeOf[checkForm](), answers: typeOf[chatguard.Verdict](), headers: rateHeaders},
	"POST /check/batch": {
		says:  "Judge up to 1000 messages in order. A message that can't be judged has an error in the place of its verdict.",
		reads: typeOf[batchForm](), answers: typeOf[struct {
			Verdicts []batchVerdict `json:"verdicts"`
		}]()},
	"POST /check/refund": {
		says:  "Give back what a message spent that was allowed but not shown: send its verdict, whose other fields are ignored.",
		reads: typeOf[refundForm]()},
}
