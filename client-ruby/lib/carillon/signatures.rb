# frozen_string_literal: true

require "openssl"

module Carillon
  TOLERANCE_SECONDS = 300

  # The push signature: SHA-256 of workspace, campaign name and push key, lower-case hexadecimal.
  def self.sign_push(workspace_id, campaign_name, push_key)
    OpenSSL::Digest::SHA256.hexdigest("#{workspace_id}|#{campaign_name}|#{push_key}")
  end

  # Whether the workspace signed a callback less than five minutes before `now`. Headers in any case; the body as it came;
  # `secret` is the workspace's `whsec_…`.
  def self.verify_callback(headers, raw_body, secret, now: Time.now.to_i)
    given = headers.transform_keys { |name| name.to_s.downcase }
    id = given["webhook-id"].to_s
    timestamp = given["webhook-timestamp"].to_s
    return false if id.empty? || !timestamp.match?(/\A\d+\z/) || (now - timestamp.to_i).abs > TOLERANCE_SECONDS

    key = secret.delete_prefix("whsec_").unpack1("m")
    expected = OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{timestamp}.#{raw_body}")
    # While a secret is replaced there are two signatures; one that fits is enough.
    given["webhook-signature"].to_s.split.any? do |signature|
      OpenSSL.secure_compare(signature.delete_prefix("v1,").unpack1("m"), expected)
    end
  end
end
