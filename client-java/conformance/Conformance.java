import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.carillon.client.CarillonClient;
import org.carillon.client.CarillonException;
import org.carillon.client.Operation;
import org.carillon.client.Reply;
import org.carillon.client.Signatures;

/** Performs the steps that it reads, one line of JSON each, and writes what each came to. */
public final class Conformance {
    private final ObjectMapper json = new ObjectMapper();
    private final List<Double> waits = new ArrayList<>();
    private CarillonClient client;
    private double now = 1_000_000;

    public static void main(String[] words) throws Exception {
        var steps = new Conformance();
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) out.println(steps.answer(line));
    }

    private String answer(String line) throws Exception {
        waits.clear();
        ObjectNode outcome = json.createObjectNode();
        try {
            Object result = perform(json.readTree(line));
            if (result != null) outcome.set("result", json.valueToTree(result));
        } catch (CarillonException refusal) {
            ObjectNode error = outcome.putObject("error").put("status", refusal.status()).put("code", refusal.code());
            error.put("message", refusal.getMessage()).put("requestId", refusal.requestId());
            error.put("retryAfterSeconds", refusal.retryAfterSeconds());
        } catch (IllegalArgumentException local) {
            outcome.putObject("error").put("status", -1).put("code", "local").put("message", local.getMessage());
        }
        outcome.set("waits", json.valueToTree(waits));
        return json.writeValueAsString(outcome);
    }

    @SuppressWarnings("unchecked")
    private Object perform(JsonNode step) {
        String key = step.path("idempotencyKey").asText(null);
        switch (step.get("do").asText()) {
            case "client":
                client = makeClient(step.get("options"));
                return null;
            case "clock":
                now += step.get("seconds").asDouble();
                return null;
            case "signPush":
                JsonNode values = step.get("values");
                return Signatures.signPush(values.get(0).asText(), values.get(1).asText(), values.get(2).asText());
            case "verifyCallback":
                JsonNode headers = step.get("headers");
                byte[] body = step.get("text").asText().getBytes(StandardCharsets.UTF_8);
                return Signatures.verifyCallback(
                        headers.path("webhook-id").asText(null), headers.path("webhook-timestamp").asText(null),
                        headers.path("webhook-signature").asText(null), body, step.get("secret").asText(),
                        step.get("seconds").asLong());
            case "sendPush":
                Reply sent = client.sendPush(json.convertValue(step.get("body"), Map.class), key);
                return ((ObjectNode) sent.body()).set("warnings", json.valueToTree(sent.warnings()));
            default:
                Map<String, String> parameters = new HashMap<>();
                step.path("parameters").fields().forEachRemaining(one -> parameters.put(one.getKey(), one.getValue().asText()));
                String wanted = step.get("operation").asText();
                Operation operation = Stream.of(Operation.values()).filter(one -> one.id().equals(wanted)).findFirst().orElseThrow();
                Reply reply = client.call(operation, new CarillonClient.Call(parameters, step.get("body"), key));
                ObjectNode result = json.createObjectNode().put("status", reply.status()).put("requestId", reply.requestId());
                result.set("warnings", json.valueToTree(reply.warnings()));
                if (!reply.body().isMissingNode()) result.set("body", reply.body());
                return result;
        }
    }

    private CarillonClient makeClient(JsonNode options) {
        return CarillonClient.builder(options.get("baseUrl").asText(), options.get("workspaceId").asText())
                .oauthKey(options.path("oauthKey").asText(null))
                .pushKey(options.path("pushKey").asText(null))
                .dataKey(options.path("dataKey").asText(null))
                .campaignsKey(options.path("campaignsKey").asText(null))
                .dbName(options.path("dbName").asText(null))
                .clock(() -> now, waits::add, () -> 1)
                .build();
    }
}
