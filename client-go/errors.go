package carillon

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Error is a call that the service rejected, or a service that was not reached (Status 0).
type Error struct {
	Status int
	// Code is the service's own, such as ER011; "unreachable" without a response, "foreign" for a success without JSON.
	Code, Message string
	// RetryAfter is the wait that the service requests; nil without one.
	RetryAfter *time.Duration
	Body       json.RawMessage
	Header     http.Header
	// RequestID is the X-Request-Id of the call, by which an operator finds it in the log of the service.
	RequestID string
	cause     error
}

func (refusal *Error) Error() string {
	return fmt.Sprintf("carillon: %d %s: %s", refusal.Status, refusal.Code, refusal.Message)
}

// Unwrap returns the error of the connection, such as context.Canceled.
func (refusal *Error) Unwrap() error { return refusal.cause }

// readRefusal reads an error response in any of the service's shapes.
func readRefusal(reply *Reply) *Error {
	refusal := &Error{Status: reply.Status, Body: reply.Body, Header: reply.Header, RequestID: reply.RequestID}
	refusal.Code = fmt.Sprintf("HTTP %d", reply.Status)
	refusal.Message = refusal.Code
	if seconds, err := strconv.ParseUint(reply.Header.Get("Retry-After"), 10, 31); err == nil {
		wait := time.Duration(seconds) * time.Second
		refusal.RetryAfter = &wait
	}
	var body map[string]any
	if json.Unmarshal(reply.Body, &body) != nil {
		return refusal
	}
	text := func(from map[string]any, names ...string) string {
		for _, name := range names {
			if found, isText := from[name].(string); isText && found != "" {
				return found
			}
		}
		return ""
	}
	inner, _ := body["error"].(map[string]any)
	switch {
	case text(body, "error_type") != "":
		refusal.Code, refusal.Message = text(body, "error_type"), text(body, "reason")
	case text(body, "Error_Message") != "":
		refusal.Code, refusal.Message = text(body, "Error_Message"), text(body, "Error_Message")
	case inner != nil:
		refusal.Code, refusal.Message = text(inner, "code", "type"), text(inner, "message")
	case text(body, "title") != "":
		refusal.Code, refusal.Message = text(body, "code", "title"), text(body, "description", "detail", "title")
	case text(body, "code") != "":
		refusal.Code, refusal.Message = text(body, "code"), text(body, "message")
	}
	return refusal
}

var warningPattern = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|, |[^"]`)

// splitWarnings separates by a comma and a space; names in quotation marks may contain both.
func splitWarnings(text string) []string {
	warnings := []string{}
	var current strings.Builder
	end := func() {
		if warning := strings.TrimSpace(current.String()); warning != "" {
			warnings = append(warnings, warning)
		}
		current.Reset()
	}
	for _, piece := range warningPattern.FindAllString(text, -1) {
		if piece == ", " {
			end()
		} else {
			current.WriteString(piece)
		}
	}
	end()
	return warnings
}
