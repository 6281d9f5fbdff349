#!/bin/bash
# An integration by curl as somebody writes it who has docs/spec/interface.md and nothing else; BASE_URL is what changes.
set -euo pipefail

token=$(curl -sS "$BASE_URL/v1/oauth/token" -H 'Content-Type: application/x-www-form-urlencoded' \
  --data-urlencode grant_type=client_credentials --data-urlencode "client_id=$CLIENT_ID" \
  --data-urlencode "client_secret=$OAUTH_KEY")
refresh_token=$(sed -E 's/.*"refresh_token":"([^"]+)".*/\1/' <<< "$token")
echo "token $token"

echo "refresh $(curl -sS "$BASE_URL/v1/oauth/refresh" -d grant_type=refresh_token -d "client_id=$CLIENT_ID" \
  --data-urlencode "refresh_token=$refresh_token")"

echo "segment $(curl -sS "$BASE_URL/v2/custom-segments/file-segment" -u "$CLIENT_ID:$DATA_KEY" \
  -H 'Content-Type: application/json' -H "SVC-DBNAME: $DB_NAME" \
  -d '{"name":"By curl","attribute_name":"uid","attribute_type":"string","file_url":"'"$FILE_URL"'","callback_url":"'"$CALLBACK_URL"'","emails":["a@example.com"],"expiry_time":30}')"

sign() {
  printf '%s|%s|%s' "$CLIENT_ID" "$1" "$PUSH_KEY" | sha256sum | cut -d ' ' -f 1
}
content='"targetPlatform":["ANDROID"],"payload":{"ANDROID":{"title":"By curl","message":"Hello"}}'
ada='"targetUserAttributes":{"attribute":"USER_ATTRIBUTE_UNIQUE_ID","comparisonParameter":"is","attributeValue":"ada"}'

echo "v2.1 $(curl -sS "$BASE_URL/v2.1/transaction/sendpush" -H 'Content-Type: application/json' \
  -H "X-SVC-APPKEY: $CLIENT_ID" -H "X-SVC-PushAPI-Signature: $(sign 'Order shipped')" -H 'X-SVC-Query-Type: user' \
  -d "{\"campaignName\":\"Order shipped\",\"targetAudience\":\"User\",$ada,$content,\"campaignDelivery\":{\"type\":\"soon\"}}")"

echo "v2 $(curl -sS "$BASE_URL/v2/transaction/sendpush" -H 'Content-Type: application/json' \
  -d "{\"appId\":\"$CLIENT_ID\",\"signature\":\"$(sign 'To everybody')\",\"campaignName\":\"To everybody\",\"targetAudience\":\"All Users\",$content,\"campaignDelivery\":{\"type\":\"soon\"}}")"
