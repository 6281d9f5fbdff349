package org.carillon.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpHeaders;
import java.util.List;

/**
 * A response, with everything that came with its body.
 *
 * @param body the JSON; a missing node after 204
 * @param warnings parts of the request that were accepted but have no effect
 * @param requestId the X-Request-Id of the call, by which an operator finds it in the log of the service
 */
public record Reply(int status, JsonNode body, HttpHeaders headers, List<String> warnings, String requestId) {}
