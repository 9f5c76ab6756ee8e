// Package redisstore shares the limits of several processes over Valkey or Redis. Each process has
// a Guard, and a Store connects the Guards:
//
//	store, err := redisstore.Open(ctx, "redis://127.0.0.1:6379", nil)
//	guard, err := chatguard.New(policy, &chatguard.Options{Shared: store})
//	go store.Run(background, guard) // until no more messages are judged
//	err = store.Close()             // after Run has returned
//
// The Guards decide. The server compares and swaps: a row is replaced if it is still the one that
// the decision was made on. The server must be Redis 6.2 or newer, or any Valkey. On Valkey 8.1,
// Redis 8.4 and newer, a swap is one SET with IFEQ; on others it is a short script.
//
// # Outages
//
// A call waits at most Options.Timeout for the server. A call whose reply is lost is retried within
// that time. Every row has unique bytes, so a retried swap has no further effect. If nothing is
// answered for twice the timeout, the store is away: calls then fail at once with an error that
// wraps [shared.ErrAway], and [Store.Health] says why. A probe checks every 50 ms whether the
// server is back. A call whose context ends earlier doesn't count as unanswered. The Store then
// pings the server to find out whether it answers.
//
// # Server
//
// The server must not evict rows: maxmemory-policy is noeviction (the default) or volatile-ttl.
// [Store.Diagnose] checks this and more. This command makes a user with only the necessary rights:
//
//	ACL SETUSER chatguard on >secret ~cg1:* &cg1:* -@all +hello +auth +ping +client|setname
//	  +get +set +del +mget +sadd +srem +smembers +evalsha +eval +time
//	  +publish +subscribe +unsubscribe
//
// Add +info for Store.Diagnose, and to notice that the server evicts rows, or has restarted without
// losing data. Add +scan for Store.Rows, +scan and +pttl for Store.Delete, +wait for
// Options.Replicas, +select for a database other than 0, and +cluster|slots and +cluster|shards for
// a Cluster.
package redisstore
