# frozen_string_literal: true

module Carillon
  # The service rejected a call, or was not reached (status 0).
  class Error < StandardError
    # `code` is the service's own, such as `ER011`; `unreachable` without a response, `foreign` for a success without JSON.
    # `request_id` is the `X-Request-Id` of the call, by which an operator finds it in the log of the service.
    attr_reader :status, :code, :request_id, :retry_after_seconds, :body, :headers

    def initialize(status, code, message, request_id: nil, retry_after_seconds: nil, body: nil, headers: {})
      super(message)
      @status = status
      @code = code
      @request_id = request_id
      @retry_after_seconds = retry_after_seconds
      @body = body
      @headers = headers
    end

    # Reads an error response in any of the service's shapes.
    def self.of(status, body, headers, request_id)
      code, message = describe(body.is_a?(Hash) ? body : {}) || ["HTTP #{status}", "HTTP #{status}"]
      asked = headers["retry-after"].to_s
      seconds = asked.match?(/\A\d+\z/) ? asked.to_i : nil
      new(status, code, message, request_id: request_id, retry_after_seconds: seconds, body: body, headers: headers)
    end

    def self.describe(body)
      inner = body["error"]
      return [body["error_type"], body["reason"].to_s] if body["error_type"]
      return [body["Error_Message"], body["Error_Message"]] if body["Error_Message"]
      return [(inner["code"] || inner["type"]).to_s, inner["message"].to_s] if inner.is_a?(Hash)
      return [body["code"] || body["title"], (body["description"] || body["detail"] || body["title"]).to_s] if body["title"]
      return [body["code"].to_s, body["message"].to_s] if body["code"]
    end
    private_class_method :describe
  end
end
