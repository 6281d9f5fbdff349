package carillon

import (
	"crypto/hmac"
	crypto "crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const callbackTolerance = 5 * time.Minute

// SignPush returns the push signature: SHA-256 of workspace, campaign name and push key, lower-case hexadecimal.
func SignPush(workspaceID, campaignName, pushKey string) string {
	sum := sha256.Sum256([]byte(workspaceID + "|" + campaignName + "|" + pushKey))
	return hex.EncodeToString(sum[:])
}

// VerifyCallback reports whether the workspace signed a callback less than five minutes before now. The body is as it came;
// secret is the workspace's whsec_….
func VerifyCallback(header http.Header, body []byte, secret string, now time.Time) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil {
		return false
	}
	age := now.Sub(time.Unix(seconds, 0))
	if age > callbackTolerance || age < -callbackTolerance {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	digest := hmac.New(sha256.New, key)
	digest.Write([]byte(id + "." + timestamp + "."))
	digest.Write(body)
	expected := digest.Sum(nil)
	// While a secret is replaced there are two signatures; one that fits is enough.
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
		if err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}

func randomID() string {
	var bytes [16]byte
	if _, err := crypto.Read(bytes[:]); err != nil {
		panic(err)
	}
	return hex.EncodeToString(bytes[:])
}
