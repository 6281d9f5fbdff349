// Command conformance performs the steps that it reads, one line of JSON each, and writes what each came to.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"carillon"
)

type step struct {
	Do             string            `json:"do"`
	Options        map[string]string `json:"options"`
	Operation      string            `json:"operation"`
	Parameters     map[string]string `json:"parameters"`
	Body           any               `json:"body"`
	IdempotencyKey string            `json:"idempotencyKey"`
	Values         []string          `json:"values"`
	Headers        map[string]string `json:"headers"`
	Text           string            `json:"text"`
	Secret         string            `json:"secret"`
	Seconds        int64             `json:"seconds"`
}

func main() {
	var client *carillon.Client
	now := time.Unix(1_000_000, 0)
	var waits []float64
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var given step
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			panic(err)
		}
		waits = []float64{}
		outcome := map[string]any{}
		switch given.Do {
		case "client":
			client = carillon.New(carillon.Options{
				BaseURL: given.Options["baseUrl"], WorkspaceID: given.Options["workspaceId"], DBName: given.Options["dbName"],
				OAuthKey: given.Options["oauthKey"], PushKey: given.Options["pushKey"],
				DataKey: given.Options["dataKey"], CampaignsKey: given.Options["campaignsKey"],
				Now: func() time.Time { return now }, Jitter: func() float64 { return 1 },
				Sleep: func(_ context.Context, wait time.Duration) error {
					waits = append(waits, wait.Seconds())
					return nil
				},
			})
		case "clock":
			now = now.Add(time.Duration(given.Seconds) * time.Second)
		case "signPush":
			outcome["result"] = carillon.SignPush(given.Values[0], given.Values[1], given.Values[2])
		case "verifyCallback":
			header := http.Header{}
			for name, value := range given.Headers {
				header.Set(name, value)
			}
			outcome["result"] = carillon.VerifyCallback(header, []byte(given.Text), given.Secret, time.Unix(given.Seconds, 0))
		case "sendPush":
			push, _ := given.Body.(map[string]any)
			sent, err := client.SendPush(context.Background(), push, given.IdempotencyKey)
			if err != nil {
				outcome["error"] = describe(err)
			} else {
				outcome["result"] = map[string]any{"cid": sent.CID, "status": sent.Status, "warnings": sent.Warnings}
			}
		case "call":
			call := carillon.Call{Parameters: given.Parameters, Body: given.Body, IdempotencyKey: given.IdempotencyKey}
			reply, err := client.Call(context.Background(), carillon.OperationID(given.Operation), call)
			if err != nil {
				outcome["error"] = describe(err)
			} else {
				result := map[string]any{"status": reply.Status, "warnings": reply.Warnings, "requestId": reply.RequestID}
				if len(reply.Body) > 0 {
					result["body"] = reply.Body
				}
				outcome["result"] = result
			}
		}
		outcome["waits"] = waits
		line, err := json.Marshal(outcome)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
}

func describe(err error) any {
	var refusal *carillon.Error
	if !errors.As(err, &refusal) {
		return map[string]any{"status": -1, "code": "local", "message": err.Error()}
	}
	described := map[string]any{
		"status": refusal.Status, "code": refusal.Code, "message": refusal.Message, "requestId": refusal.RequestID,
	}
	if refusal.RetryAfter != nil {
		described["retryAfterSeconds"] = refusal.RetryAfter.Seconds()
	}
	return described
}
