# frozen_string_literal: true

require "erb"
require "json"
require "net/http"
require "securerandom"
require "uri"
require_relative "access_tokens"
require_relative "error"
require_relative "operations"
require_relative "signatures"

module Carillon
  # A response, with everything that came with its body: `headers` with names in lower case, `warnings` about parts of the
  # request that have no effect, and the `X-Request-Id` of the call.
  Reply = Struct.new(:status, :body, :headers, :warnings, :request_id)

  # Calls every operation of a Carillon service. Methods raise Carillon::Error.
  class Client
    MAX_REPEATS = 3
    MAX_WAIT_SECONDS = 60
    FIRST_WAIT_SECONDS = 0.25
    # Statuses of a service or proxy that failed. A 409 is final, so it is not among them.
    FAILURES = [0, 500, 502, 503, 504].freeze
    # What a connection raises that breaks, or that does not speak HTTP.
    BROKEN = [SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError,
              Net::HTTPBadResponse].freeze

    # A data, campaigns or push key is used where there is one; otherwise calls use the access token of `oauth_key`.
    # `now`, `sleep` and `jitter` (0 to 1) are replaced in tests.
    def initialize(base_url, workspace_id, oauth_key: nil, push_key: nil, data_key: nil, campaigns_key: nil, db_name: nil,
                   header_prefix: "SVC", timeout_seconds: 60, now: -> { Time.now.to_f },
                   sleep: ->(seconds) { Kernel.sleep(seconds) }, jitter: -> { Random.rand })
      @base_url = base_url.delete_suffix("/")
      @workspace_id = workspace_id
      @push_key = push_key
      @keys = { "data" => data_key, "campaigns" => campaigns_key, "push" => push_key }
      @db_name = db_name
      @prefix = header_prefix
      @timeout_seconds = timeout_seconds
      @sleep = sleep
      @jitter = jitter
      @tokens = AccessTokens.new(workspace_id, oauth_key, now) { |path, form| ask_token(path, form) } if oauth_key
    end

    # Calls any operation of the API document by its `operationId`.
    def call(operation, parameters = {}, body = nil, idempotency_key: nil, headers: {})
      row = OPERATIONS.fetch(operation.to_s) { raise ArgumentError, "no operation #{operation}" }
      path = path_of(row, parameters)
      given = { "X-Request-Id" => SecureRandom.uuid, **fixed_headers(row, idempotency_key), **headers }
      given["Content-Type"] = "application/json" unless body.nil?
      text = body.nil? ? nil : JSON.generate(body)
      send = ->(credentials) { patiently(row.safe) { send_once(row.http_method, path, text, { **given, **credentials }) } }
      authorized(row, send)
    end

    # Creates and sends a push (v2.1); a retry after a lost response sends once. The body of the reply has `cid`.
    def send_push(push, idempotency_key: nil)
      raise ArgumentError, "push_key is needed to send" unless @push_key

      push = push.transform_keys(&:to_s)
      name, audience = %w[campaignName targetAudience].map do |member|
        push[member].to_s.empty? ? raise(ArgumentError, "#{member} is required") : push[member]
      end
      headers = {
        "X-#{@prefix}-PushAPI-Signature" => Carillon.sign_push(@workspace_id, name, @push_key),
        "X-#{@prefix}-Query-Type" => audience.downcase
      }
      reply = call("sendPushV21", {}, push, idempotency_key: idempotency_key, headers: headers)
      return reply if reply.body.is_a?(Hash) && reply.body["status"] == "Success"

      raise Error.of(reply.status, reply.body, reply.headers, reply.request_id)
    end

    private

    def authorized(row, send)
      return send.call({}) if row.key == "none"

      secret = @keys[row.key]
      return send.call({ "Authorization" => "Basic #{["#{@workspace_id}:#{secret}"].pack("m0")}" }) if secret
      raise ArgumentError, "#{row.key}_key or oauth_key is needed for #{row.path}" unless @tokens

      token = @tokens.get
      begin
        send.call({ "Authorization" => "Bearer #{token}" })
      rescue Error => e
        # A token that was revoked elsewhere is replaced, once.
        raise unless e.status == 401

        @tokens.forget(token)
        send.call({ "Authorization" => "Bearer #{@tokens.get}" })
      end
    end

    def path_of(row, parameters)
      values = { "app_id" => @workspace_id, "workspace_id" => @workspace_id, **parameters.transform_keys(&:to_s) }
      path = row.path.gsub(/\{(\w+)\}/) do
        value = values[Regexp.last_match(1)].to_s
        value.empty? ? raise(ArgumentError, "#{Regexp.last_match(1)} is required") : ERB::Util.url_encode(value)
      end
      query = values.slice(*row.query)
      query.empty? ? path : "#{path}?#{URI.encode_www_form(query)}"
    end

    def fixed_headers(row, idempotency_key)
      row.headers.each_with_object({}) do |starred, headers|
        value =
          if starred == "Idempotency-Key" then idempotency_key || SecureRandom.uuid
          elsif starred.end_with?("APPKEY") then @workspace_id
          elsif starred.end_with?("DBNAME") then @db_name
          end
        headers[starred.sub("*", @prefix)] = value if value
      end
    end

    def ask_token(path, form)
      headers = { "X-Request-Id" => SecureRandom.uuid, "Content-Type" => "application/x-www-form-urlencoded" }
      patiently(true) { send_once("POST", path, URI.encode_www_form(form), headers) }
    end

    # Retries after 429 always, and after failures if a repeat changes nothing.
    def patiently(is_safe)
      repeats = 0
      begin
        yield
      rescue Error => e
        is_retried = e.status == 429 || (is_safe && FAILURES.include?(e.status))
        raise if !is_retried || repeats == MAX_REPEATS

        # At least a half of a time that doubles, so that clients that failed together do not return together.
        backoff = FIRST_WAIT_SECONDS * (2**repeats) * (0.5 + (@jitter.call / 2))
        @sleep.call(e.retry_after_seconds ? [e.retry_after_seconds, MAX_WAIT_SECONDS].min : backoff)
        repeats += 1
        retry
      end
    end

    # Net::HTTP follows no redirection: it would take the credentials to another host, and is an error of status 3xx instead.
    def send_once(method, path, text, headers)
      uri = URI.parse(@base_url + path)
      request = Net::HTTPGenericRequest.new(method, !text.nil?, true, uri, headers)
      request.body = text
      limits = { open_timeout: @timeout_seconds, read_timeout: @timeout_seconds, write_timeout: @timeout_seconds }
      # Net::HTTP would repeat some requests by itself.
      options = { use_ssl: uri.scheme == "https", max_retries: 0, **limits }
      response = Net::HTTP.start(uri.host, uri.port, **options) { |http| http.request(request) }
      read(response, headers["X-Request-Id"])
    rescue *BROKEN => e
      message = "The service was not reached, or did not reply: #{e.message}"
      raise Error.new(0, "unreachable", message, request_id: headers["X-Request-Id"])
    end

    def read(response, request_id)
      status = response.code.to_i
      headers = response.each_header.to_h
      text = response.body.to_s
      body, is_json = parse(text)
      raise Error.of(status, body, headers, request_id) unless (200..299).cover?(status)
      raise Error.new(status, "foreign", "HTTP #{status} without JSON", request_id: request_id) unless is_json

      Reply.new(status, body, headers, split_warnings(headers["x-#{@prefix.downcase}-warning"].to_s), request_id)
    end

    def parse(text)
      [text.empty? ? nil : JSON.parse(text), true]
    rescue JSON::ParserError
      [nil, false]
    end

    # The service separates warnings by a comma and a space; names in quotation marks may contain both.
    def split_warnings(text)
      text.scan(/(?:"(?:[^"\\]|\\.)*"|[^,"]|,(?! ))+/).map(&:strip).reject(&:empty?)
    end
  end
end
