// Package carillon calls every operation of a Carillon service. It needs the standard library only.
package carillon

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxRepeats     = 3
	maxWait        = 60 * time.Second
	firstWait      = 250 * time.Millisecond
	defaultTimeout = 60 * time.Second
	// A response is held in memory; a larger one is not from the service.
	maxReplyBytes = 64 << 20
)

// Options of a client. A key that is empty is not used: its operations then use the access token of OAuthKey.
type Options struct {
	BaseURL, WorkspaceID                     string
	OAuthKey, PushKey, DataKey, CampaignsKey string
	// DBName is the database name of the workspace, required for file segments.
	DBName string
	// HeaderPrefix is the abbreviation in names of headers; default SVC.
	HeaderPrefix string
	// HTTPClient sends the requests; default: one with a timeout of 60 s. Redirects are never followed.
	HTTPClient *http.Client
	// Now, Sleep and Jitter (0 to 1) are replaced in tests.
	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
	Jitter func() float64
}

// Client calls the service. It is safe for concurrent use.
type Client struct {
	options Options
	http    *http.Client
	keys    map[string]string
	tokens  *accessTokens
}

// Call is the input of an operation.
type Call struct {
	// Parameters of the path and the query by their names. The workspace fills in its own.
	Parameters map[string]string
	// Body is anything that encoding/json writes.
	Body any
	// IdempotencyKey is generated unless given, for every operation that accepts one.
	IdempotencyKey string
	headers        map[string]string
}

// Reply is a response, with everything that came with its body.
type Reply struct {
	Status int
	// Body is the JSON as it came; empty after 204.
	Body   json.RawMessage
	Header http.Header
	// Warnings name the parts of the request that were accepted but have no effect.
	Warnings []string
	// RequestID is the X-Request-Id of the call, by which an operator finds it in the log of the service.
	RequestID string
}

// Decode parses the body into what target points to.
func (reply *Reply) Decode(target any) error { return json.Unmarshal(reply.Body, target) }

// New makes a client.
func New(options Options) *Client {
	if options.HeaderPrefix == "" {
		options.HeaderPrefix = "SVC"
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Sleep == nil {
		options.Sleep = sleep
	}
	if options.Jitter == nil {
		options.Jitter = rand.Float64
	}
	options.BaseURL = strings.TrimRight(options.BaseURL, "/")
	sender := http.Client{Timeout: defaultTimeout}
	if options.HTTPClient != nil {
		sender = *options.HTTPClient
	}
	// A redirection would take the credentials to another host; it is an error of status 3xx instead.
	sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &Client{options: options, http: &sender}
	client.keys = map[string]string{"data": options.DataKey, "campaigns": options.CampaignsKey, "push": options.PushKey}
	if options.OAuthKey != "" {
		client.tokens = &accessTokens{client: client}
	}
	return client
}

// Call calls any operation of the API document. Errors of the service are of type *Error.
func (client *Client) Call(ctx context.Context, id OperationID, given Call) (*Reply, error) {
	row, isKnown := operations[id]
	if !isKnown {
		return nil, fmt.Errorf("carillon: no operation %q", id)
	}
	attempt, err := client.prepare(row, given)
	if err != nil {
		return nil, err
	}
	secret := client.keys[row.key]
	switch {
	case row.key == "none":
		return client.patiently(ctx, attempt)
	case secret != "":
		pair := base64.StdEncoding.EncodeToString([]byte(client.options.WorkspaceID + ":" + secret))
		attempt.headers["Authorization"] = "Basic " + pair
		return client.patiently(ctx, attempt)
	case client.tokens == nil:
		return nil, fmt.Errorf("carillon: the %s key or OAuthKey is needed for %s", row.key, row.path)
	}
	for isRenewed := false; ; isRenewed = true {
		token, err := client.tokens.get(ctx)
		if err != nil {
			return nil, err
		}
		attempt.headers["Authorization"] = "Bearer " + token
		reply, err := client.patiently(ctx, attempt)
		var refusal *Error
		// A token that was revoked elsewhere is replaced, once.
		if isRenewed || !errors.As(err, &refusal) || refusal.Status != http.StatusUnauthorized {
			return reply, err
		}
		client.tokens.forget(token)
	}
}

// Push is a push as the interface spells it; the client adds the workspace and the signature.
type Push map[string]any

// SentPush is the response to a push, with the parts of the push that have no effect.
type SentPush struct {
	CID      string   `json:"cid"`
	Status   string   `json:"status"`
	Warnings []string `json:"-"`
}

// SendPush creates and sends a push (v2.1); a retry after a lost response sends once.
func (client *Client) SendPush(ctx context.Context, push Push, idempotencyKey string) (*SentPush, error) {
	name, _ := push["campaignName"].(string)
	audience, _ := push["targetAudience"].(string)
	switch {
	case client.options.PushKey == "":
		return nil, errors.New("carillon: PushKey is needed to send")
	case name == "":
		return nil, errors.New("carillon: campaignName is required")
	case audience == "":
		return nil, errors.New("carillon: targetAudience is required")
	}
	prefix := "X-" + client.options.HeaderPrefix
	headers := map[string]string{
		prefix + "-PushAPI-Signature": SignPush(client.options.WorkspaceID, name, client.options.PushKey),
		prefix + "-Query-Type":        strings.ToLower(audience),
	}
	reply, err := client.Call(ctx, SendPushV21, Call{Body: push, IdempotencyKey: idempotencyKey, headers: headers})
	if err != nil {
		return nil, err
	}
	sent := SentPush{Warnings: reply.Warnings}
	if err := reply.Decode(&sent); err != nil || sent.Status != "Success" {
		return nil, readRefusal(reply)
	}
	return &sent, nil
}

// A request that is sent, and sent again.
type attempt struct {
	method, url string
	body        []byte
	headers     map[string]string
	isSafe      bool
}

func (client *Client) prepare(row operation, given Call) (*attempt, error) {
	values := map[string]string{"app_id": client.options.WorkspaceID, "workspace_id": client.options.WorkspaceID}
	for name, value := range given.Parameters {
		values[name] = value
	}
	path := row.path
	for name, value := range values {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	if start := strings.Index(path, "{"); start >= 0 {
		return nil, fmt.Errorf("carillon: %s of %s is required", path[start:], row.path)
	}
	query := url.Values{}
	for _, name := range row.query {
		if value, isGiven := values[name]; isGiven {
			query.Set(name, value)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	made := &attempt{method: row.method, url: client.options.BaseURL + path, isSafe: row.isSafe}
	made.headers = map[string]string{"X-Request-Id": randomID()}
	for _, starred := range row.headers {
		name := strings.Replace(starred, "*", client.options.HeaderPrefix, 1)
		switch {
		case starred == "Idempotency-Key" && given.IdempotencyKey != "":
			made.headers[name] = given.IdempotencyKey
		case starred == "Idempotency-Key":
			made.headers[name] = randomID()
		case strings.HasSuffix(starred, "APPKEY"):
			made.headers[name] = client.options.WorkspaceID
		case strings.HasSuffix(starred, "DBNAME") && client.options.DBName != "":
			made.headers[name] = client.options.DBName
		}
	}
	for name, value := range given.headers {
		made.headers[name] = value
	}
	if given.Body != nil {
		body, err := json.Marshal(given.Body)
		if err != nil {
			return nil, err
		}
		made.body = body
		made.headers["Content-Type"] = "application/json"
	}
	return made, nil
}

// patiently retries after 429 always, and after failures if a repeat changes nothing.
func (client *Client) patiently(ctx context.Context, attempt *attempt) (*Reply, error) {
	for repeats := 0; ; repeats++ {
		reply, err := client.send(ctx, attempt)
		var refusal *Error
		if !errors.As(err, &refusal) || repeats == maxRepeats || ctx.Err() != nil {
			return reply, err
		}
		if refusal.Status != http.StatusTooManyRequests && !(attempt.isSafe && isFailure(refusal.Status)) {
			return nil, err
		}
		// At least a half of a time that doubles, so that clients that failed together do not return together.
		wait := time.Duration(float64(firstWait<<repeats) * (0.5 + client.options.Jitter()/2))
		if refusal.RetryAfter != nil {
			wait = *refusal.RetryAfter
			if wait > maxWait {
				wait = maxWait
			}
		}
		if err := client.options.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// isFailure tells statuses of a service or proxy that failed. A 409 is final, so it is not among them.
func isFailure(status int) bool {
	return status == 0 || status == 500 || status == 502 || status == 503 || status == 504
}

func (client *Client) send(ctx context.Context, attempt *attempt) (*Reply, error) {
	request, err := http.NewRequestWithContext(ctx, attempt.method, attempt.url, bytes.NewReader(attempt.body))
	if err != nil {
		return nil, err
	}
	for name, value := range attempt.headers {
		request.Header.Set(name, value)
	}
	reply := &Reply{RequestID: attempt.headers["X-Request-Id"]}
	response, err := client.http.Do(request)
	if err == nil {
		defer response.Body.Close()
		reply.Status, reply.Header = response.StatusCode, response.Header
		reply.Body, err = io.ReadAll(io.LimitReader(response.Body, maxReplyBytes))
	}
	if err != nil {
		message := "the service was not reached, or did not reply: " + err.Error()
		return nil, &Error{Code: "unreachable", Message: message, RequestID: reply.RequestID, cause: err}
	}
	reply.Warnings = splitWarnings(reply.Header.Get("X-" + client.options.HeaderPrefix + "-Warning"))
	if reply.Status < 200 || reply.Status > 299 {
		return nil, readRefusal(reply)
	}
	if len(reply.Body) > 0 && !json.Valid(reply.Body) {
		message := fmt.Sprintf("HTTP %d without JSON", reply.Status)
		return nil, &Error{Status: reply.Status, Code: "foreign", Message: message, RequestID: reply.RequestID}
	}
	return reply, nil
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
