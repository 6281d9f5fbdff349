# frozen_string_literal: true

# Performs the steps that it reads, one line of JSON each, and writes what each came to.

require "json"
require_relative "lib/carillon"

OPTIONS = {
  "oauthKey" => :oauth_key, "pushKey" => :push_key, "dataKey" => :data_key, "campaignsKey" => :campaigns_key,
  "dbName" => :db_name
}.freeze

client = nil
now = 1_000_000
waits = []

make_client = lambda do |options|
  named = options.slice(*OPTIONS.keys).transform_keys(OPTIONS)
  tools = { now: -> { now }, sleep: ->(seconds) { waits << seconds }, jitter: -> { 1.0 } }
  Carillon::Client.new(options["baseUrl"], options["workspaceId"], **named, **tools)
end

perform = lambda do |step|
  case step["do"]
  when "client"
    client = make_client.call(step["options"])
    nil
  when "clock"
    now += step["seconds"]
    nil
  when "signPush" then Carillon.sign_push(*step["values"])
  when "verifyCallback"
    Carillon.verify_callback(step["headers"], step["text"], step["secret"], now: step["seconds"])
  when "sendPush"
    reply = client.send_push(step["body"], idempotency_key: step["idempotencyKey"])
    { **reply.body, warnings: reply.warnings }
  when "call"
    reply = client.call(step["operation"], step["parameters"] || {}, step["body"], idempotency_key: step["idempotencyKey"])
    { status: reply.status, body: reply.body, warnings: reply.warnings, requestId: reply.request_id }
  end
end

$stdout.sync = true
$stdin.each_line do |line|
  waits.clear
  outcome =
    begin
      { result: perform.call(JSON.parse(line)) }.compact
    rescue Carillon::Error => e
      seconds = e.retry_after_seconds
      about = { status: e.status, code: e.code, message: e.message, requestId: e.request_id, retryAfterSeconds: seconds }
      { error: about }
    rescue ArgumentError => e
      { error: { status: -1, code: "local", message: e.message } }
    end
  puts JSON.generate({ **outcome, waits: waits })
end
