package carillon

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// A token is renewed this long before its end, or at four fifths of a shorter life.
	renewBefore = 2 * time.Minute
	refreshLife = 30 * 24 * time.Hour
)

// One access token for all goroutines: kept, and refreshed before it ends.
type accessTokens struct {
	client *Client
	// Whoever comes while the token is renewed waits for the one request.
	mutex                   sync.Mutex
	access, refresh         string
	expiresAt, refreshUntil time.Time
}

func (tokens *accessTokens) get(ctx context.Context) (string, error) {
	tokens.mutex.Lock()
	defer tokens.mutex.Unlock()
	if !tokens.expiresAt.After(tokens.client.options.Now()) {
		if err := tokens.renew(ctx); err != nil {
			return "", err
		}
	}
	return tokens.access, nil
}

// forget discards a token that was refused though it should be good: the next caller gets another one.
func (tokens *accessTokens) forget(access string) {
	tokens.mutex.Lock()
	defer tokens.mutex.Unlock()
	if tokens.access == access {
		tokens.expiresAt = time.Time{}
	}
}

func (tokens *accessTokens) renew(ctx context.Context) error {
	if tokens.refresh != "" && tokens.refreshUntil.After(tokens.client.options.Now()) {
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.refresh}}
		err := tokens.ask(ctx, "/v1/oauth/refresh", form)
		var refusal *Error
		// ER010: revoked, or of a key made anew; the key itself may still be good.
		if !errors.As(err, &refusal) || refusal.Code != "ER010" {
			return err
		}
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_secret": {tokens.client.options.OAuthKey}}
	return tokens.ask(ctx, "/v1/oauth/token", form)
}

func (tokens *accessTokens) ask(ctx context.Context, path string, form url.Values) error {
	askedAt := tokens.client.options.Now()
	form.Set("client_id", tokens.client.options.WorkspaceID)
	reply, err := tokens.client.patiently(ctx, &attempt{
		method: http.MethodPost, url: tokens.client.options.BaseURL + path, body: []byte(form.Encode()), isSafe: true,
		headers: map[string]string{"X-Request-Id": randomID(), "Content-Type": "application/x-www-form-urlencoded"},
	})
	if err != nil {
		return err
	}
	var answer struct {
		Data struct {
			Access  string  `json:"access_token"`
			Refresh string  `json:"refresh_token"`
			Life    float64 `json:"expires_in"`
		} `json:"data"`
	}
	if err := reply.Decode(&answer); err != nil || answer.Data.Access == "" {
		return &Error{Status: reply.Status, Code: "foreign", Message: "the response has no access token", RequestID: reply.RequestID}
	}
	life := time.Duration(answer.Data.Life * float64(time.Second))
	kept := life - renewBefore
	if kept < life*4/5 {
		kept = life * 4 / 5
	}
	tokens.access, tokens.expiresAt = answer.Data.Access, askedAt.Add(kept)
	if answer.Data.Refresh != "" {
		tokens.refresh, tokens.refreshUntil = answer.Data.Refresh, askedAt.Add(refreshLife-renewBefore)
	}
	return nil
}
