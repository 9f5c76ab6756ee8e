package limitinfo

import (
	"cmp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/limits"
)

// Capacity returns approximately how many users a Guard remembers at once under a policy: users of
// each channel, and everywhere, the users of all channels together for whom PerUserEverywhere
// limits are counted. everywhere is 0 if there are no such limits. memory is the Guard's
// Options.MaxMemory; 0 means 512 MiB. IDs that aren't decimal numbers take extra
// memory and reduce the capacity. The errors are those of the policy's Validate.
func Capacity(policy chatguard.Policy, memory int64) (users, everywhere int64, err error) {
	sets, err := inner.Compile(policy)
	if err != nil {
		return 0, 0, err
	}
	memory = cmp.Or(max(memory, 0), limits.DefaultMemory)
	if set := sets[limits.PerUserEverywhere]; set != nil {
		everywhere = set.UsersIn(memory)
	}
	return sets[limits.PerUser].UsersIn(memory), everywhere, nil
}

// TextCapacity returns approximately how many texts of a channel a Guard remembers at once for the
// limits on repeated text. It is that of the limit for which the fewest fit, and 0 if there are no
// such limits. If more texts are written, those that were silent longest are forgotten. memory and
// the errors are those of Capacity.
func TextCapacity(policy chatguard.Policy, memory int64) (texts int64, err error) {
	sets, err := inner.Compile(policy)
	memory = cmp.Or(max(memory, 0), limits.DefaultMemory)
	for i, set := range sets.Texts() {
		if fit := set.UsersIn(limits.TextMemory(memory)); i == 0 || fit < texts {
			texts = fit
		}
	}
	return texts, err
}

// Memory returns approximately how many bytes the given number of users of a channel take under a
// policy, without the texts that limits on repeated text count. IDs that aren't decimal numbers
// take somewhat more. The errors are those of the policy's Validate.
func Memory(policy chatguard.Policy, users int) (bytes int64, err error) {
	sets, err := inner.Compile(policy)
	if err != nil {
		return 0, err
	}
	if set := sets[limits.PerUserEverywhere]; set != nil {
		bytes = set.Bytes(users)
	}
	return bytes + sets[limits.PerUser].Bytes(users), nil
}

// TextMemory returns approximately how many bytes the given number of texts of a channel take in
// all limits on repeated text. In a PerUserText limit, the same text by another user is another
// text. The errors are those of the policy's Validate.
func TextMemory(policy chatguard.Policy, texts int) (bytes int64, err error) {
	sets, err := inner.Compile(policy)
	for _, set := range sets.Texts() {
		bytes += set.Bytes(texts)
	}
	return bytes, err
}
