package org.carillon.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.DoubleSupplier;

/** One access token for all threads: kept, and refreshed before it ends. */
final class AccessTokens {
    // A token is renewed this long before its end, or at four fifths of a shorter life.
    private static final double RENEW_BEFORE_SECONDS = 120;
    private static final double REFRESH_LIFE_SECONDS = 30 * 24 * 3600;

    private final BiFunction<String, Map<String, String>, Reply> ask;
    private final String workspaceId;
    private final String oauthKey;
    private final DoubleSupplier now;
    private String accessToken = "";
    private double expiresAt;
    private String refreshToken;
    private double refreshUntil;

    AccessTokens(
            BiFunction<String, Map<String, String>, Reply> ask, String workspaceId, String oauthKey, DoubleSupplier now) {
        this.ask = ask;
        this.workspaceId = workspaceId;
        this.oauthKey = oauthKey;
        this.now = now;
    }

    /** Whoever comes while the token is renewed waits for the one request. */
    synchronized String get() {
        if (expiresAt <= now.getAsDouble()) renew();
        return accessToken;
    }

    /** A token that was refused though it should be good: the next caller gets another one. */
    synchronized void forget(String refused) {
        if (refused.equals(accessToken)) expiresAt = 0;
    }

    private void renew() {
        if (refreshToken != null && refreshUntil > now.getAsDouble()) {
            try {
                take("/v1/oauth/refresh", Map.of("grant_type", "refresh_token", "refresh_token", refreshToken));
                return;
            } catch (CarillonException refusal) {
                // ER010: revoked, or of a key made anew; the key itself may still be good.
                if (!"ER010".equals(refusal.code())) throw refusal;
            }
        }
        take("/v1/oauth/token", Map.of("grant_type", "client_credentials", "client_secret", oauthKey));
    }

    private void take(String path, Map<String, String> given) {
        double askedAt = now.getAsDouble();
        Map<String, String> form = new LinkedHashMap<>(given);
        form.put("client_id", workspaceId);
        Reply reply = ask.apply(path, form);
        JsonNode data = reply.body().path("data");
        if (!data.has("access_token") || !data.has("expires_in"))
            throw new CarillonException(reply.status(), "foreign", "The response has no access token", reply.requestId());
        double life = data.get("expires_in").asDouble();
        accessToken = data.get("access_token").asText();
        expiresAt = askedAt + Math.max(life - RENEW_BEFORE_SECONDS, life * 0.8);
        if (data.has("refresh_token")) {
            refreshToken = data.get("refresh_token").asText();
            refreshUntil = askedAt + REFRESH_LIFE_SECONDS - RENEW_BEFORE_SECONDS;
        }
    }
}
