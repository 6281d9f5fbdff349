package org.carillon.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.DoubleConsumer;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Calls every operation of a Carillon service. Methods throw {@link CarillonException}. Safe for use by many threads. */
public final class CarillonClient {
    private static final int MAX_REPEATS = 3;
    private static final double MAX_WAIT_SECONDS = 60;
    private static final double FIRST_WAIT_SECONDS = 0.25;
    /** Statuses of a service or proxy that failed. A 409 is final, so it is not among them. */
    private static final Set<Integer> FAILURES = Set.of(0, 500, 502, 503, 504);
    /** The service separates warnings by a comma and a space; names in quotation marks may contain both. */
    private static final Pattern WARNING = Pattern.compile("(?:\"(?:[^\"\\\\]|\\\\.)*\"|[^,\"]|,(?! ))+");
    private static final Pattern NAME = Pattern.compile("\\{(\\w+)\\}");

    private final ObjectMapper json = new ObjectMapper();
    private final Builder options;
    private final HttpClient http;
    private final Map<String, String> keys = new HashMap<>();
    private final AccessTokens tokens;

    private CarillonClient(Builder options) {
        this.options = options;
        // A redirection would take the credentials to another host; it is an error of status 3xx instead.
        Duration timeout = options.timeout;
        http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(timeout)
                .build();
        keys.put("data", options.dataKey);
        keys.put("campaigns", options.campaignsKey);
        keys.put("push", options.pushKey);
        tokens = options.oauthKey == null
                ? null
                : new AccessTokens(this::askToken, options.workspaceId, options.oauthKey, options.now);
    }

    public static Builder builder(String baseUrl, String workspaceId) {
        return new Builder(baseUrl, workspaceId);
    }

    /** A data, campaigns or push key is used where there is one; otherwise calls use the access token of the OAuth key. */
    public static final class Builder {
        private final String baseUrl;
        private final String workspaceId;
        private String oauthKey;
        private String pushKey;
        private String dataKey;
        private String campaignsKey;
        private String dbName;
        private String headerPrefix = "SVC";
        private Duration timeout = Duration.ofSeconds(60);
        private DoubleSupplier now = () -> System.currentTimeMillis() / 1000.0;
        private DoubleConsumer sleep = CarillonClient::sleepSeconds;
        private DoubleSupplier jitter = new Random()::nextDouble;

        private Builder(String baseUrl, String workspaceId) {
            this.baseUrl = baseUrl.replaceFirst("/+$", "");
            this.workspaceId = workspaceId;
        }

        public Builder oauthKey(String secret) {
            oauthKey = secret;
            return this;
        }

        public Builder pushKey(String secret) {
            pushKey = secret;
            return this;
        }

        public Builder dataKey(String secret) {
            dataKey = secret;
            return this;
        }

        public Builder campaignsKey(String secret) {
            campaignsKey = secret;
            return this;
        }

        /** Database name of the workspace, required for file segments. */
        public Builder dbName(String name) {
            dbName = name;
            return this;
        }

        /** Abbreviation in names of headers; default SVC. */
        public Builder headerPrefix(String prefix) {
            headerPrefix = prefix;
            return this;
        }

        /** Maximum time for a connection and for a response; default 60 s. */
        public Builder timeout(Duration limit) {
            timeout = limit;
            return this;
        }

        /** Seconds now, a wait of seconds, and a number from 0 to 1: replaced in tests. */
        public Builder clock(DoubleSupplier seconds, DoubleConsumer wait, DoubleSupplier random) {
            now = seconds;
            sleep = wait;
            jitter = random;
            return this;
        }

        public CarillonClient build() {
            return new CarillonClient(this);
        }
    }

    /**
     * The input of an operation.
     *
     * @param parameters of the path and the query by their names; the client fills in the workspace
     * @param body anything that Jackson writes, or null
     * @param idempotencyKey generated if null, for every operation that accepts one
     */
    public record Call(Map<String, String> parameters, Object body, String idempotencyKey) {
        public static Call of(Map<String, String> parameters) {
            return new Call(parameters, null, null);
        }

        public static Call body(Object body) {
            return new Call(Map.of(), body, null);
        }
    }

    /** Calls any operation of the API document. */
    public Reply call(Operation operation, Call given) {
        return call(operation, given, Map.of());
    }

    /**
     * Creates and sends a push (v2.1); a retry after a lost response sends once. The body of the reply has {@code cid}.
     *
     * @param push as the interface spells it; the client adds the workspace and the signature
     * @param idempotencyKey generated if null
     */
    public Reply sendPush(Map<String, ?> push, String idempotencyKey) {
        if (options.pushKey == null) throw new IllegalArgumentException("pushKey is needed to send");
        String name = required(push, "campaignName");
        String audience = required(push, "targetAudience");
        String prefix = "X-" + options.headerPrefix;
        Map<String, String> headers = Map.of(
                prefix + "-PushAPI-Signature", Signatures.signPush(options.workspaceId, name, options.pushKey),
                prefix + "-Query-Type", audience.toLowerCase(Locale.ROOT));
        Reply reply = call(Operation.SEND_PUSH_V21, new Call(Map.of(), push, idempotencyKey), headers);
        if (reply.body().path("status").asText().equals("Success")) return reply;
        throw CarillonException.of(reply.status(), reply.body(), reply.headers(), reply.requestId());
    }

    private Reply call(Operation operation, Call given, Map<String, String> more) {
        String path = pathOf(operation, given.parameters());
        Map<String, String> headers = new LinkedHashMap<>(fixedHeaders(operation, given.idempotencyKey()));
        headers.putAll(more);
        String text = given.body() == null ? null : write(given.body());
        if (text != null) headers.put("Content-Type", "application/json");
        Supplier<Reply> send = () -> patiently(operation.isSafe, () -> send(operation.method, path, text, headers));
        String secret = keys.get(operation.key);
        if (operation.key.equals("none")) return send.get();
        if (secret != null) {
            byte[] pair = (options.workspaceId + ":" + secret).getBytes(StandardCharsets.UTF_8);
            headers.put("Authorization", "Basic " + Base64.getEncoder().encodeToString(pair));
            return send.get();
        }
        if (tokens == null)
            throw new IllegalArgumentException(operation.key + "Key or oauthKey is needed for " + operation.path);
        String token = tokens.get();
        headers.put("Authorization", "Bearer " + token);
        try {
            return send.get();
        } catch (CarillonException refusal) {
            // A token that was revoked elsewhere is replaced, once.
            if (refusal.status() != 401) throw refusal;
            tokens.forget(token);
            headers.put("Authorization", "Bearer " + tokens.get());
            return send.get();
        }
    }

    private String pathOf(Operation operation, Map<String, String> parameters) {
        Map<String, String> values = new HashMap<>(Map.of("app_id", options.workspaceId, "workspace_id", options.workspaceId));
        values.putAll(parameters);
        String path = NAME.matcher(operation.path).replaceAll(found -> encode(required(values, found.group(1))));
        String query = operation.query.stream()
                .filter(values::containsKey)
                .map(name -> name + "=" + encode(values.get(name)))
                .collect(Collectors.joining("&"));
        return query.isEmpty() ? path : path + "?" + query;
    }

    private Map<String, String> fixedHeaders(Operation operation, String idempotencyKey) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("X-Request-Id", UUID.randomUUID().toString());
        for (String starred : operation.headers) {
            String name = starred.replace("*", options.headerPrefix);
            if (starred.equals("Idempotency-Key"))
                headers.put(name, idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey);
            if (starred.endsWith("APPKEY")) headers.put(name, options.workspaceId);
            if (starred.endsWith("DBNAME") && options.dbName != null) headers.put(name, options.dbName);
        }
        return headers;
    }

    private Reply askToken(String path, Map<String, String> form) {
        String text = form.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + encode(entry.getValue()))
                .collect(Collectors.joining("&"));
        String requestId = UUID.randomUUID().toString();
        Map<String, String> headers =
                Map.of("X-Request-Id", requestId, "Content-Type", "application/x-www-form-urlencoded");
        return patiently(true, () -> send("POST", path, text, headers));
    }

    /** Retries after 429 always, and after failures if a repeat changes nothing. */
    private Reply patiently(boolean isSafe, Supplier<Reply> send) {
        for (int repeats = 0; ; repeats++) {
            try {
                return send.get();
            } catch (CarillonException refusal) {
                boolean isRetried = refusal.status() == 429 || (isSafe && FAILURES.contains(refusal.status()));
                if (!isRetried || repeats == MAX_REPEATS || Thread.currentThread().isInterrupted()) throw refusal;
                // At least a half of a time that doubles, so that clients that failed together do not return together.
                double backoff = FIRST_WAIT_SECONDS * (1 << repeats) * (0.5 + options.jitter.getAsDouble() / 2);
                Long asked = refusal.retryAfterSeconds();
                options.sleep.accept(asked == null ? backoff : Math.min(asked, MAX_WAIT_SECONDS));
            }
        }
    }

    private Reply send(String method, String path, String text, Map<String, String> headers) {
        var publisher = text == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(text);
        var request = HttpRequest.newBuilder(URI.create(options.baseUrl + path)).method(method, publisher).timeout(options.timeout);
        headers.forEach(request::setHeader);
        String requestId = headers.get("X-Request-Id");
        HttpResponse<String> response;
        try {
            response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException | InterruptedException cause) {
            if (cause instanceof InterruptedException) Thread.currentThread().interrupt();
            String message = "The service was not reached, or did not reply: " + cause.getMessage();
            throw new CarillonException(0, "unreachable", message, requestId, null, null, cause);
        }
        int status = response.statusCode();
        JsonNode body = parse(response.body());
        if (status < 200 || status > 299) throw CarillonException.of(status, body, response.headers(), requestId);
        if (body == null) throw new CarillonException(status, "foreign", "HTTP " + status + " without JSON", requestId);
        String warning = response.headers().firstValue("X-" + options.headerPrefix + "-Warning").orElse("");
        return new Reply(status, body, response.headers(), splitWarnings(warning), requestId);
    }

    /** Returns null for a text that is not JSON. */
    private JsonNode parse(String text) {
        if (text.isEmpty()) return MissingNode.getInstance();
        try {
            return json.readTree(text);
        } catch (IOException notJson) {
            return null;
        }
    }

    private String write(Object body) {
        try {
            return json.writeValueAsString(body);
        } catch (IOException cause) {
            throw new IllegalArgumentException("The body cannot be written as JSON", cause);
        }
    }

    private static List<String> splitWarnings(String text) {
        List<String> warnings = new ArrayList<>();
        WARNING.matcher(text).results().map(found -> found.group().trim()).filter(one -> !one.isEmpty()).forEach(warnings::add);
        return warnings;
    }

    private static String required(Map<String, ?> values, String name) {
        Object value = values.get(name);
        if (value == null || value.toString().isEmpty()) throw new IllegalArgumentException(name + " is required");
        return value.toString();
    }

    /** URLEncoder writes forms, in which a space is a plus; in a path it is not. */
    private static String encode(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static void sleepSeconds(double seconds) {
        try {
            Thread.sleep((long) (seconds * 1000));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
