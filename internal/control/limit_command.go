package control

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/policies"
)

// setMode sets a channel's policy to observe or enforce.
func (c *Commands) setMode(ctx context.Context, channelID, author string, mode chatguard.Mode) (saved bool, err error) {
	return c.revise(ctx, channelID, author, func(p chatguard.Policy) (chatguard.Policy, error) {
		p.Mode = mode
		return p, nil
	})
}

// revise replaces a channel's policy by the result of edit on the current one.
func (c *Commands) revise(
	ctx context.Context, channelID, author string, edit func(chatguard.Policy) (chatguard.Policy, error),
) (saved bool, err error) {
	done, err := c.policies.Revise(ctx, policies.Request{ChannelID: channelID, Author: author}, edit)
	if errors.As(err, new(*policies.Error)) {
		c.records.log.Warn("a policy change was refused", "channel", channelID, "author", author, "error", err)
	}
	return done.Saved, err
}

// setLimit changes one number of a limit. An empty key means its capacity: burst, messages or
// queue.
func (c *Commands) setLimit(ctx context.Context, channelID, author, limit, key, value string) (saved bool, err error) {
	return c.revise(ctx, channelID, author, func(p chatguard.Policy) (chatguard.Policy, error) {
		names := make([]string, len(p.Limits))
		for i := range p.Limits {
			if names[i] = p.Limits[i].Name; names[i] == limit {
				return p, set(&p.Limits[i], key, value)
			}
		}
		return p, fmt.Errorf("there is no limit %q here, only %s", limit, strings.Join(names, ", "))
	})
}

// capacities are the keys of the limits' capacities.
var capacities = map[chatguard.Algorithm]string{chatguard.TokenBucket: "burst", chatguard.Cascade: "burst", chatguard.LeakyBucket: "queue"}

// set sets a limit's parameter from its text. It does not check whether the key fits the algorithm;
// the Guard does.
func set(l *chatguard.Limit, key, value string) (err error) {
	if key == "" {
		if key = capacities[l.Algorithm]; key == "" {
			key = "messages"
		}
	}
	counts := map[string]*int{"burst": &l.Burst, "extra_burst": &l.ExtraBurst, "messages": &l.Messages, "queue": &l.Queue, "reserve": &l.Reserve, "slices": &l.Slices, "from_length": &l.FromLength}
	names := map[string]*string{"period": (*string)(&l.Period), "first_day": &l.FirstDay}
	lengths := map[string]*time.Duration{"refill": &l.Refill, "extra_refill": &l.ExtraRefill, "every": &l.Every}
	switch {
	case counts[key] != nil:
		least, most := limits.Bounds(key)
		if *counts[key], err = strconv.Atoi(value); err != nil || int64(*counts[key]) < least {
			return fmt.Errorf("%s must be a whole number from %d to %d, not %q", key, least, most, value)
		}
	case lengths[key] != nil:
		if *lengths[key], err = durations.Parse(value); err != nil {
			return fmt.Errorf(`%s must be a duration such as "4s", not %q`, key, value)
		}
	case names[key] != nil:
		if *names[key] = strings.ToLower(value); key == "period" && l.Period != chatguard.PeriodWeek {
			l.FirstDay = "" // only a week has one
		}
	default:
		return errors.New("set changes burst, refill, extra_burst, extra_refill, messages, every, slices, queue, reserve, period, first_day and from_length; the page Limits changes the rest")
	}
	return nil
}
