package helix

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
)

// Account is a Twitch user.
type Account struct {
	ID          string `json:"id"`
	Login       string `json:"login"`
	DisplayName string `json:"display_name"`
}

// maxAccounts is the maximum number of accounts in one request.
const maxAccounts = 100

// Users returns the accounts with these logins, in Twitch's order. Accounts that don't exist are
// missing from the result. The request doesn't wait behind penalties.
func (h *Client) Users(ctx context.Context, logins ...string) ([]Account, error) {
	return h.users(ctx, "login", logins)
}

// UsersByID returns the same as Users for accounts with these IDs.
func (h *Client) UsersByID(ctx context.Context, ids ...string) ([]Account, error) {
	return h.users(ctx, "id", ids)
}

func (h *Client) users(ctx context.Context, by string, values []string) ([]Account, error) {
	var all []Account
	for some := range slices.Chunk(values, maxAccounts) {
		accounts, err := h.accounts(ctx, request{Request: api.Request{Op: "look users up"}, sending: sending{essential: true}}, url.Values{by: some})
		if err != nil {
			return nil, err
		}
		all = append(all, accounts...)
	}
	return all, nil
}

// Self returns the account of the token's user.
func (h *Client) Self(ctx context.Context) (Account, error) {
	r := request{Request: api.Request{Op: "look the token's user up"}, sending: sending{essential: true}}
	accounts, err := h.accounts(ctx, r, nil)
	if err == nil && len(accounts) != 1 {
		err = fmt.Errorf("%s: %w (it has %d users)", r.Op, twitch.ErrRejected, len(accounts))
	}
	if err != nil {
		return Account{}, err
	}
	return accounts[0], nil
}

func (h *Client) accounts(ctx context.Context, r request, query url.Values) ([]Account, error) {
	r.Method, r.URL = http.MethodGet, "/users"
	if len(query) > 0 {
		r.URL += "?" + query.Encode()
	}
	var told struct {
		Data []Account `json:"data"`
	}
	if err := h.ask(ctx, r, &told); err != nil {
		return nil, err
	}
	return told.Data, nil
}

// channelsPerPage is the page size of Twitch's list of channels.
const channelsPerPage = 100

// ModeratedChannels returns the IDs of the channels in which the token's user is a moderator,
// without the user's own channel. userID is that user's ID. The request doesn't wait behind
// penalties.
func (h *Client) ModeratedChannels(ctx context.Context, userID string) (ids []string, err error) {
	query := url.Values{"user_id": {userID}, "first": {strconv.Itoa(channelsPerPage)}}
	r := request{Request: api.Request{Op: "list moderated channels", Method: http.MethodGet}, sending: sending{essential: true}}
	if err := r.checkIDs("user", userID); err != nil {
		return nil, err
	}
	type channel struct {
		ID string `json:"broadcaster_id"`
	}
	err = askAll(ctx, h, r, "/moderation/channels", query, func(c channel) (found bool) {
		ids = append(ids, c.ID)
		return false
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}
