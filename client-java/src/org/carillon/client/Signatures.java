package org.carillon.client;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signatures of pushes and of callbacks. */
public final class Signatures {
    private static final long TOLERANCE_SECONDS = 300;

    private Signatures() {}

    /** The push signature: SHA-256 of workspace, campaign name and push key, lower-case hexadecimal. */
    public static String signPush(String workspaceId, String campaignName, String pushKey) {
        String text = workspaceId + "|" + campaignName + "|" + pushKey;
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Whether the workspace signed a callback less than five minutes before {@code nowSeconds}.
     *
     * @param id the header webhook-id
     * @param timestamp the header webhook-timestamp
     * @param signatures the header webhook-signature
     * @param rawBody the body as it came
     * @param secret the workspace's whsec_…
     */
    public static boolean verifyCallback(
            String id, String timestamp, String signatures, byte[] rawBody, String secret, long nowSeconds) {
        if (id == null || timestamp == null || signatures == null || !timestamp.matches("\\d{1,12}")) return false;
        if (Math.abs(nowSeconds - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) return false;
        byte[] expected;
        try {
            byte[] key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
            expected = mac.doFinal(rawBody);
        } catch (GeneralSecurityException | IllegalArgumentException noKey) {
            return false;
        }
        // While a secret is replaced there are two signatures; one that fits is enough.
        for (String signature : signatures.trim().split("\\s+")) {
            try {
                byte[] given = Base64.getDecoder().decode(signature.replaceFirst("^v1,", ""));
                if (MessageDigest.isEqual(given, expected)) return true;
            } catch (IllegalArgumentException notBase64) {
                continue;
            }
        }
        return false;
    }
}
