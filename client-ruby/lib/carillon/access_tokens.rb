# frozen_string_literal: true

require_relative "error"

module Carillon
  # One access token for all threads: kept, and refreshed before it ends.
  class AccessTokens
    # A token is renewed this long before its end, or at four fifths of a shorter life.
    RENEW_BEFORE_SECONDS = 120
    REFRESH_LIFE_SECONDS = 30 * 24 * 3600

    # The block posts a form to a path, and returns the reply.
    def initialize(workspace_id, oauth_key, now, &ask)
      @workspace_id = workspace_id
      @oauth_key = oauth_key
      @now = now
      @ask = ask
      @lock = Mutex.new
      @expires_at = 0
      @refresh_until = 0
    end

    def get
      # Whoever comes while it is renewed waits for the one request.
      @lock.synchronize do
        renew if @expires_at <= @now.call
        @access_token
      end
    end

    # A token that was refused though it should be good: the next caller gets another one.
    def forget(access_token)
      @lock.synchronize { @expires_at = 0 if access_token == @access_token }
    end

    private

    def renew
      if @refresh_token && @refresh_until > @now.call
        begin
          return take("/v1/oauth/refresh", grant_type: "refresh_token", refresh_token: @refresh_token)
        rescue Error => e
          # ER010: revoked, or of a key made anew; the key itself may still be good.
          raise unless e.code == "ER010"
        end
      end
      take("/v1/oauth/token", grant_type: "client_credentials", client_secret: @oauth_key)
    end

    def take(path, form)
      asked_at = @now.call
      reply = @ask.call(path, { client_id: @workspace_id, **form })
      data = reply.body.is_a?(Hash) ? reply.body["data"] : nil
      unless data.is_a?(Hash) && data["access_token"] && data["expires_in"]
        raise Error.new(reply.status, "foreign", "The response has no access token", request_id: reply.request_id)
      end

      life = data["expires_in"].to_f
      @access_token = data["access_token"]
      @expires_at = asked_at + [life - RENEW_BEFORE_SECONDS, life * 0.8].max
      return unless data["refresh_token"]

      @refresh_token = data["refresh_token"]
      @refresh_until = asked_at + REFRESH_LIFE_SECONDS - RENEW_BEFORE_SECONDS
    end
  end
end
