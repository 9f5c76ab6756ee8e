package web

import (
	"reflect"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// route is one request of the API that only those may send who are signed in and may do as much.
type route struct {
	pattern string // method and path below /api/v1
	needs   journal.Access
	handle  signedInHandler
	about   about
}

// openRoute is one that anybody may send.
type openRoute struct {
	pattern string
	handle  handler
	about   about
}

// of is a type that JSON is read into or written from.
func of[T any]() reflect.Type { return reflect.TypeFor[T]() }

// openRoutes are the routes that anybody may send.
func (s *Server) openRoutes() []openRoute {
	return []openRoute{
		{"POST /session", s.signIn, about{
			says:  "Sign in with the one-time code of a sign-in link, or with a token. The answer sets the session's cookie.",
			reads: of[secret](), answers: of[journal.Holder](), headers: []string{"Set-Cookie"}}},
		{"GET /healthz", s.getHealth, about{says: "Whether the process is alive.", answers: of[health]()}},
		{"GET /readyz", s.getReady, about{
			says:    "Whether messages are judged and kept: 503 where they aren't, with the reasons for who is signed in.",
			answers: of[health](), unready: true}},
		{"GET /metrics", s.getMetrics, about{says: "Figures for Prometheus, for who is signed in; without a public_url, for this machine too.", form: "text/plain"}},
		{"GET /openapi.json", s.getOpenAPI, about{says: "This document.", answers: of[map[string]any]()}},
	}
}

// api are the routes of the API. Where another site authorizes, that judges its messages by itself.
func (s *Server) api() []route {
	routes := slices.Concat(s.channelRoutes(), s.policyRoutes(), s.userRoutes(), s.recordRoutes())
	if s.opts.Authorize != nil {
		return routes
	}
	return append(routes, s.checkRoutes()...)
}

// channelRoutes are about who is signed in, and about channels as they are now.
func (s *Server) channelRoutes() []route {
	return []route{
		{"GET /session", journal.AccessAny, s.getSession, about{says: "Who is signed in, and what they may do.", answers: of[signedInAs]()}},
		{"DELETE /session", journal.AccessAny, s.signOut, about{says: "Sign out."}},

		{"GET /status", journal.AccessView, s.getStatus, about{
			says: "Connections, database, and how busy chat is.", query: params(inChannel), answers: of[namedStatus]()}},
		{"GET /channels", journal.AccessView, s.getChannels, about{
			says: "The channels that are served; the first one is shown first.", answers: of[struct {
				Channels []Channel `json:"channels"`
			}]()}},
		{"GET /throttled", journal.AccessView, s.getThrottled, about{
			says: "Who is throttled now, by what, until when and how often.", query: params(inChannel), answers: of[struct {
				Users []throttled `json:"users"`
			}]()}},
		{"GET /rates", journal.AccessView, s.getRates, about{
			says:  "Messages and throttled ones in each step of the last hour or day, the oldest first; null where that isn't known.",
			query: params(inChannel, overSpan), answers: of[ratesOver]()}},
		{"GET /live", journal.AccessView, s.serveLive, about{
			says:  "A WebSocket that sends Frames: a snapshot, then what changes. With feed and after it goes on behind that frame where it can.",
			query: params(inChannel, ofFeed, afterSeq), webSocket: true}},
		{"POST /channels/{channel}/pause", journal.AccessModerate, s.turns(Switches.Pause), about{
			says: "Let the channel only observe until it is resumed.", answers: of[switchedTo]()}},
		{"POST /channels/{channel}/resume", journal.AccessModerate, s.turns(Switches.Resume), about{
			says: "End a pause.", answers: of[switchedTo]()}},
		{"POST /channels/{channel}/raid", journal.AccessModerate, s.startRaid, about{
			says: "Begin raid mode, for the usual time or another.", reads: of[lengthWanted](), optional: true, answers: of[switchedTo]()}},
		{"DELETE /channels/{channel}/raid", journal.AccessModerate, s.turns(Switches.EndRaid), about{
			says: "End raid mode.", answers: of[switchedTo]()}},
	}
}

// policyRoutes are about the limits of a channel.
func (s *Server) policyRoutes() []route {
	return []route{
		{"GET /channels/{channel}/policy", journal.AccessView, s.getPolicy, about{
			says: "The policy as stated, with its ETag.", answers: of[chatguard.Policy](), headers: []string{"ETag"}}},
		{"PUT /channels/{channel}/policy", journal.AccessModerate, s.putPolicy, about{
			says: "Replace the policy that has the ETag.", match: required, reads: of[chatguard.Policy](), answers: of[change](),
			headers: []string{"ETag"}}},
		{"DELETE /channels/{channel}/policy", journal.AccessModerate, s.deletePolicy, about{
			says: "Go back to the configuration file's policy.", match: accepted, answers: of[change](), headers: []string{"ETag"}}},
		{"GET /channels/{channel}/policy/revisions", journal.AccessView, s.getRevisions, about{
			says: "Who changed the policy when, and what; the newest first.", answers: of[struct {
				Revisions []pastRevision `json:"revisions"`
			}]()}},
		{"GET /channels/{channel}/policy/differences", journal.AccessView, s.getDifferences, about{
			says: "What the policy as stated differs in from the configuration file's.", answers: of[struct {
				Changes []journal.Change `json:"changes"`
			}]()}},
		{"GET /channels/{channel}/policy/export", journal.AccessView, s.exportPolicy, about{
			says: "The policy as stated, the way the configuration file has it.", form: "application/toml",
			headers: []string{"Content-Disposition"}}},
		{"POST /channels/{channel}/policy/revert", journal.AccessModerate, s.revertPolicy, about{
			says:  "Put the policy of an earlier revision in force again, as a new one; 0 is the configuration file's.",
			match: required, reads: of[revertWanted](), answers: of[change](), headers: []string{"ETag"}}},
		{"POST /channels/{channel}/preview", journal.AccessView, s.preview, about{
			says:  "What would have happened under another policy, beside the present one, over the recorded hours; both as if enforced.",
			reads: of[previewWanted](), answers: of[previewed]()}},
	}
}

// userRoutes are about single users.
func (s *Server) userRoutes() []route {
	return []route{
		{"GET /users", journal.AccessView, s.findUsers, about{
			says: "Find users by login or ID; without q those who spoke last.", query: params(inOneChannel, searched), answers: of[foundUsers]()}},
		{"GET /channels/{channel}/overrides", journal.AccessView, s.getOverrides, about{
			says: "The users who have something of their own.", answers: of[overrides]()}},
		{"GET /channels/{channel}/users/{id}", journal.AccessView, s.getUser, about{
			says: "How a user stands with every limit, and why: what a message of theirs would get now.", answers: of[card]()}},
		{"GET /channels/{channel}/users/{id}/week", journal.AccessView, s.getWeek, about{
			says:  "How much of one limit a user had left over the last seven days. Left out, the limit is one that counts by days, if there is one.",
			query: params(ofLimit), answers: of[week]()}},
		{"POST /channels/{channel}/users/{id}/grant", journal.AccessModerate, s.grant, about{
			says: "Give extra messages in one limit; left out, it is the first that counts by days.", reads: of[grantWanted](), answers: of[amended]()}},
		{"POST /channels/{channel}/users/{id}/reset", journal.AccessModerate, s.reset, about{
			says: "Forget what a user has spent, their strikes and grants.", answers: of[amended]()}},
		{"POST /channels/{channel}/users/{id}/exempt", journal.AccessModerate, s.exempt, about{
			says: "Let a user write without limits, for a while (10m, 1h30m, 2d) or for good.", reads: of[lengthWanted](), optional: true, answers: of[amended]()}},
		{"POST /channels/{channel}/users/{id}/pardon", journal.AccessModerate, s.pardonUser, about{
			says: "Forgive all messages of the user that were held back without a pause, up to the last one: lift the penalty, take the strikes back. " +
				"Says what was undone, and what was not.",
			answers: of[pardonedUser]()}},
		{"DELETE /channels/{channel}/users/{id}/pardon/{pardon}", journal.AccessModerate, s.unpardonUser, about{
			says:    "Undo a pardon of the last five minutes, by its ID. 409 if something has changed since. A penalty that was lifted isn't given again.",
			answers: of[unpardoned]()}},
		{"PUT /channels/{channel}/users/{id}/override", journal.AccessModerate, s.putOverride, about{
			says: "Replace all that a user has of their own.", match: accepted, reads: of[chatguard.UserOverride](), answers: of[amended]()}},
		{"DELETE /channels/{channel}/users/{id}/override", journal.AccessModerate, s.deleteOverride, about{
			says: "Take away all that a user has of their own.", match: accepted, answers: of[amended]()}},
	}
}

// recordRoutes are about what was done, and who changed what.
func (s *Server) recordRoutes() []route {
	return []route{
		{"GET /journal", journal.AccessView, s.getJournal, about{
			says:  "Throttled messages and what was done about them, the newest first. As CSV all that are wanted.",
			query: params(inChannel, ofUser, ofLimit, ofAction, ofResult, fromTime, untilTime, beforeEntry, pageLength, inFormat),
			form:  "text/csv", answers: of[entryPage](), headers: []string{"Content-Disposition"}}},
		{"POST /journal/{entry}/pardon", journal.AccessModerate, s.pardon, about{
			says: "Forgive a single throttled message: lift its penalty, take its strike back.", answers: of[amended]()}},
		{"GET /audit", journal.AccessView, s.getAudit, about{
			says:  "Who changed what, the newest first. As CSV all that are wanted.",
			query: params(inChannel, toUser, ofAuthor, ofChange, beforeChange, pageLength, inFormat), form: "text/csv", answers: of[auditPage](),
			headers: []string{"Content-Disposition"}}},
	}
}

// checkRoutes are for the servers of other chats.
func (s *Server) checkRoutes() []route {
	return []route{
		{"POST /check", journal.AccessCheck, s.check, about{
			says: "Judge a message of another chat: 200 where it may be shown, and 429 where it is to be dropped, with the verdict.", throttles: true,
			reads: of[checkedMessage](), answers: of[chatguard.Verdict](), headers: rateHeaders}},
		{"POST /check/batch", journal.AccessCheck, s.checkBatch, about{
			says:  "Judge up to 1000 messages in their order. Where one can't be judged, none is, and the problem names it.",
			reads: of[checkedBatch](), answers: of[struct {
				Verdicts []chatguard.Verdict `json:"verdicts"`
			}]()}},
	}
}
