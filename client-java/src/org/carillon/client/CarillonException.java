package org.carillon.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpHeaders;

/** The service rejected a call, or was not reached (status 0). */
public final class CarillonException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final String code;
    private final String requestId;
    private final Long retryAfterSeconds;
    private final transient JsonNode body;

    CarillonException(int status, String code, String message, String requestId) {
        this(status, code, message, requestId, null, null, null);
    }

    CarillonException(
            int status, String code, String message, String requestId, Long retryAfterSeconds, JsonNode body, Throwable cause) {
        super(message, cause);
        this.status = status;
        this.code = code;
        this.requestId = requestId;
        this.retryAfterSeconds = retryAfterSeconds;
        this.body = body;
    }

    /** HTTP status; 0 without a response. */
    public int status() {
        return status;
    }

    /** The service's own code, such as ER011; "unreachable" without a response, "foreign" for a success without JSON. */
    public String code() {
        return code;
    }

    /** The X-Request-Id of the call, by which an operator finds it in the log of the service. */
    public String requestId() {
        return requestId;
    }

    /** The wait that the service requests, or null. */
    public Long retryAfterSeconds() {
        return retryAfterSeconds;
    }

    /** The body of the response, or null if there was none or it was not JSON. */
    public JsonNode body() {
        return body;
    }

    /** Reads an error response in any of the service's shapes. */
    static CarillonException of(int status, JsonNode body, HttpHeaders headers, String requestId) {
        String asked = headers.firstValue("Retry-After").orElse("");
        Long seconds = asked.matches("\\d{1,9}") ? Long.valueOf(asked) : null;
        String[] told = describe(body, "HTTP " + status);
        return new CarillonException(status, told[0], told[1], requestId, seconds, body, null);
    }

    private static String[] describe(JsonNode body, String otherwise) {
        if (body == null || !body.isObject()) return new String[] {otherwise, otherwise};
        JsonNode inner = body.path("error");
        if (body.has("error_type")) return of(text(body, "error_type"), text(body, "reason"));
        if (body.has("Error_Message")) return of(text(body, "Error_Message"), text(body, "Error_Message"));
        if (inner.isObject()) return of(text(inner, "code", "type"), text(inner, "message"));
        if (body.has("title")) return of(text(body, "code", "title"), text(body, "description", "detail", "title"));
        if (body.has("code")) return of(text(body, "code"), text(body, "message"));
        return of(otherwise, otherwise);
    }

    private static String[] of(String code, String message) {
        return new String[] {code, message};
    }

    private static String text(JsonNode from, String... names) {
        for (String name : names) if (!from.path(name).asText("").isEmpty()) return from.path(name).asText();
        return "";
    }
}
