package dashboard

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/host"
)

// Store keeps what a Dashboard shows and what people change in it. A *sqlitestore.Store is one, and
// so is a type that embeds a *sqlitestore.Store, for example to measure its Run. New refuses any
// other type. A program with another database keeps the Guard's state there by itself, see
// [chatguard.Guard.Dirty], and gives the Dashboard no Store.
type Store interface {
	// Run writes until ctx ends, then writes everything pending once more and returns. The error
	// says what is lost. The Dashboard's Run calls it in a goroutine.
	Run(ctx context.Context) error
}

// hostOf returns the host of a Store that was opened with the Guard.
func hostOf(store Store, guard *chatguard.Guard) (*host.Host, error) {
	if v := reflect.ValueOf(store); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("dashboard: Options.Store is a nil %T: leave Store out for a dashboard without a store", store)
	}
	switch h := host.Of(store); {
	case h == nil:
		return nil, errors.New("dashboard: Options.Store must be a *sqlitestore.Store from sqlitestore.Open, or embed one")
	case !h.Guards(guard):
		return nil, errors.New("dashboard: Options.Store was opened with another Guard: open it with this one")
	default:
		return h, nil
	}
}
