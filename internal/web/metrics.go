package web

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

// family is the type and the help text of all metrics with a name.
type family struct{ kind, help string }

// families are the known metrics. Of the process's own metrics, only those that are listed here are
// reported.
var families = map[string]family{
	"chatguard_build_info":                        {"gauge", "Always 1; the labels are the version of chatguard, its commit, and the version of Go."},
	"chatguard_channel_enforcing":                 {"gauge", "Whether the channel's policy in force enforces: 1, or 0 if it only observes."},
	"chatguard_channel_paused":                    {"gauge", "Whether somebody has paused the channel."},
	"chatguard_channel_read":                      {"gauge", "Whether the channel's messages on Twitch arrive: 0 while it isn't joined."},
	"chatguard_channel_raid_mode":                 {"gauge", "Whether raid mode is on in the channel."},
	"chatguard_ready":                             {"gauge", "Whether messages of all channels are read, judged, acted on and saved, as GET /readyz says."},
	"chatguard_connected":                         {"gauge", "Whether a connection works: chat reads Twitch's chat, helix sends requests to Twitch."},
	"chatguard_token_valid":                       {"gauge", "Whether Twitch accepts the bot's token: 0 if it is missing, refused, or can't be checked."},
	"chatguard_token_renewable":                   {"gauge", "Whether chatguard renews the bot's token by itself: 1, or 0 if it works until it expires."},
	"chatguard_token_expiry_timestamp_seconds":    {"gauge", "When the bot's token expires, in seconds since 1970."},
	"chatguard_tls_expiry_timestamp_seconds":      {"gauge", "When the certificate of the dashboard and the API expires, in seconds since 1970."},
	"chatguard_helix_requests_remaining":          {"gauge", "Requests that can be sent to Twitch now without waiting."},
	"chatguard_pending_penalties":                 {"gauge", "Penalties that are pending or in progress."},
	"chatguard_chat_lines_total":                  {"counter", "Lines read from Twitch's chat, of any kind."},
	"chatguard_chat_dropped_lines_total":          {"counter", "Chat lines that weren't judged, because judging was stuck."},
	"chatguard_chat_reconnects_total":             {"counter", "Connections to Twitch's chat that were lost or failed."},
	"chatguard_line_to_verdict_seconds":           {"histogram", "Time from reading a chat line to its verdict."},
	"chatguard_verdict_to_request_seconds":        {"histogram", "Time from a verdict until the first request of its penalty is sent to Twitch."},
	"chatguard_request_to_answer_seconds":         {"histogram", "Time from sending a request to Twitch until its answer is complete."},
	"chatguard_database_ok":                       {"gauge", "Whether the database can be written; 1 without a database too."},
	"chatguard_messages_total":                    {"counter", "Messages judged or exempt, by channel."},
	"chatguard_throttled_messages_total":          {"counter", "Throttled messages, by channel."},
	"chatguard_observed_messages_total":           {"counter", "Messages that would be throttled if the policy were enforced, by channel."},
	"chatguard_low_priority_messages_total":       {"counter", "Messages allowed at low priority, by channel."},
	"chatguard_outcomes_total":                    {"counter", "Outcomes of the actions on throttled messages: done, failed, skipped, unknown, observed."},
	"chatguard_throttled_users":                   {"gauge", "Users who are throttled now."},
	"chatguard_live_feeds":                        {"gauge", "Open pages of the dashboard."},
	"chatguard_users":                             {"gauge", "Users in memory."},
	"chatguard_users_memory_bytes":                {"gauge", "Memory that users take, approximately."},
	"chatguard_users_memory_limit_bytes":          {"gauge", "Memory that users may take: half of memory in the configuration."},
	"chatguard_users_forgotten_total":             {"counter", "Users removed from memory because they need not be remembered any more."},
	"chatguard_users_evicted_total":               {"counter", "Users evicted because the memory was used up."},
	"chatguard_texts":                             {"gauge", "Texts in memory that limits on repeated text count."},
	"chatguard_texts_evicted_total":               {"counter", "Texts evicted because the memory was used up."},
	"chatguard_users_evicted_held_total":          {"counter", "Evicted users who were throttled, had strikes or grants, or were in a transitional period."},
	"chatguard_database_rows_written_total":       {"counter", "Rows written to the database, by table."},
	"chatguard_database_flush_duration_seconds":   {"summary", "Duration of the writes to the database."},
	"chatguard_database_errors_total":             {"counter", "Failed writes to the database, and how often its log was deleted or truncated."},
	"chatguard_database_lag_seconds":              {"gauge", "Seconds of data that a crash would lose now."},
	"chatguard_database_waiting_records":          {"gauge", "Records of timeline and journal that wait to be written."},
	"chatguard_database_records_dropped_total":    {"counter", "Records dropped because the queue was full, by table."},
	"chatguard_database_size_bytes":               {"gauge", "Size of the database file and its log."},
	"chatguard_webhook_waiting_deliveries":        {"gauge", "Deliveries that wait to be sent to webhooks."},
	"chatguard_webhook_dead_letters":              {"gauge", "Deliveries to webhooks that were given up and are kept."},
	"chatguard_shared_up":                         {"gauge", "Whether the shared store answers."},
	"chatguard_shared_refusing":                   {"gauge", "Whether the shared store answers, but refuses changes."},
	"chatguard_shared_nodes":                      {"gauge", "Live nodes that share limits, with this one."},
	"chatguard_shared_round_trip_seconds":         {"gauge", "Fastest recent round trip to the shared store."},
	"chatguard_shared_clock_offset_seconds":       {"gauge", "The shared store's clock minus this machine's."},
	"chatguard_shared_clock_error_seconds":        {"gauge", "Half the maximum difference between the clocks of two nodes."},
	"chatguard_shared_clock_jump_seconds":         {"gauge", "How far the shared store's clock has jumped; 0 when the nodes' time has followed."},
	"chatguard_shared_swaps_total":                {"counter", "Swaps of rows: done; conflict: another node was faster; again: repeated, because a reply was lost; error: refused, or not answered."},
	"chatguard_shared_swap_duration_seconds":      {"histogram", "Duration of calls of the shared store that swap rows."},
	"chatguard_shared_exchange_duration_seconds":  {"histogram", "Duration of the exchanges with the shared store."},
	"chatguard_shared_exchange_rows":              {"histogram", "Rows that an exchange has swapped."},
	"chatguard_shared_from_memory_messages_total": {"counter", "Messages decided without the shared store, because the answer was certain."},
	"chatguard_shared_offline_messages_total":     {"counter", "Messages decided without the shared store: it was away, refused changes or had lost rows, or other nodes were always faster."},
	"chatguard_shared_unreadable_messages_total":  {"counter", "Messages decided without the shared store, because a row can't be read."},
	"chatguard_shared_healed_rows_total":          {"counter", "Rows that the shared store had lost, and got back."},
	"chatguard_shared_overdrawn_messages_total":   {"counter", "Messages that exceeded a limit because nodes had not compared yet."},
	"chatguard_shared_exchanged_rows_total":       {"counter", "Rows that exchanges have compared with the shared store."},
	"chatguard_shared_assumed_swaps_total":        {"counter", "Swaps that count as made although it is not known whether they were: a reply was lost, and many other nodes have changed the row since."},
	"chatguard_shared_lost_rows_total":            {"counter", "Rows whose pending messages were dropped, because too many rows had some."},
	"chatguard_shared_pending_rows":               {"gauge", "Rows that still have to be written to the shared store."},
	"chatguard_shared_leader":                     {"gauge", "Whether this node acts in the channel: 1, or 0 if another one does, or none."},
	"chatguard_shared_rows":                       {"gauge", "Rows of the shared store in memory."},
	"chatguard_twitch_sessions":                   {"gauge", "People who are signed in with their Twitch accounts, each browser counted."},
	"chatguard_twitch_sign_ins_total":             {"counter", "Sign-ins with Twitch: ok; denied on Twitch; refused: forged, late or used twice; not_moderator; failed: Twitch doesn't answer as it should; limited: too many."},
	"process_cpu_seconds_total":                   {"counter", "Processor time used."},
	"process_resident_memory_bytes":               {"gauge", "Resident memory."},
	"process_start_time_seconds":                  {"gauge", "When the process started, in seconds since 1970."},
	"process_open_fds":                            {"gauge", "Open file descriptors."},
	"process_max_fds":                             {"gauge", "Most file descriptors that can be open."},
	"go_goroutines":                               {"gauge", "Goroutines."},
	"go_memstats_heap_inuse_bytes":                {"gauge", "Heap memory in use."},
	"go_gc_duration_seconds":                      {"summary", "Pauses of garbage collections."},
}

// familyOf returns the name of the family of a line in the exposition format.
func familyOf(line string) string {
	name := line[:strings.IndexAny(line+" ", "{ ")]
	for _, suffix := range []string{"_sum", "_count", "_bucket"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && (families[base].kind == "summary" || families[base].kind == "histogram") {
			return base
		}
	}
	return name
}

// writeFamilies copies metrics in the exposition format. The lines of each family must be adjacent.
// It writes the family's type and help before the first of them. It leaves out the families for
// which keep returns false.
func writeFamilies(w io.Writer, text string, keep func(name string) bool) {
	before := ""
	for line := range strings.Lines(text) {
		name := familyOf(line)
		if !keep(name) {
			continue
		}
		if f, ok := families[name]; ok && name != before {
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, f.help, f.kind)
		}
		before = name
		io.WriteString(w, line)
	}
}

// write writes all metrics.
func (h *probes) write(w io.Writer) {
	var text bytes.Buffer
	h.metrics.WritePrometheus(&text)
	writeFamilies(w, text.String(), func(string) bool { return true })
	writeFamilies(w, h.state(), func(string) bool { return true })
	text.Reset()
	metrics.WriteProcessMetrics(&text)
	metrics.WriteFDMetrics(&text)
	writeFamilies(w, text.String(), func(name string) bool { return families[name].kind != "" })
}

// state returns the state of channels and the database in the exposition format.
func (h *probes) state() string {
	var lines []string
	add := func(name, labels string, value bool) {
		number := 0
		if value {
			number = 1
		}
		lines = append(lines, fmt.Sprintf("chatguard_%s%s %d\n", name, labels, number))
	}
	for _, c := range h.model.Channels() {
		labels := live.ChannelLabels(c.ID, c.Login)
		add("channel_enforcing", labels, inner.Of(h.guard).Mode(c.ID) == chatguard.ModeEnforce)
		add("channel_paused", labels, c.PausedBy != "")
		add("channel_raid_mode", labels, !c.RaidUntil.IsZero())
		if leads, ok := h.leads(c.ID); ok {
			add("shared_leader", labels, leads)
		}
	}
	add("ready", "", h.ready().Status != "unavailable")
	add("database_ok", "", h.model.Database().State != journal.DatabaseFailing)
	slices.Sort(lines)
	return strings.Join(lines, "")
}
