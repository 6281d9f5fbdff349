import Foundation

/// A code that proves that a push token is this phone's.
public struct Challenge: Sendable, Equatable {
    public let installationId: String
    public let code: String

    public init(installationId: String, code: String) {
        self.installationId = installationId
        self.code = code
    }
}

/// One message. The only file that knows the names of keys (docs/phones.md); a test compares them with what the server sends.
/// A member that is missing or malformed is treated as absent. For the app and for its extension.
public struct CarillonMessage: Sendable {
    /// What a tap opens: `richlanding` (web address), `deeplinking` (URI) or `navigation` (screen).
    public struct Target: Sendable {
        public let type: String
        public let value: String
    }

    /// A picture, a sound or a film; the extension loads the first.
    public struct Media: Sendable {
        public let type: String
        public let address: URL
    }

    /// A button that came with the message: a click is reported under its `action`.
    public struct Button: Sendable {
        public let action: String
        public let title: String
        public let address: URL?
        public let iconAddress: URL?
    }

    public let id: String
    public let title: String
    public let text: String
    /// For the app only: nothing is shown.
    public let isSilent: Bool
    /// The caller's pairs.
    public let pairs: [String: String]
    public let workspaceId: String?
    public let campaignId: String?
    public let runId: String?
    /// Time at which an inbox of your app should drop it.
    public let inboxExpiry: Date?
    public let coupon: String?
    public let media: [Media]
    public let target: Target?
    public let buttons: [Button]
    /// The credential of the message's receipts.
    public let reportToken: String?
    /// Proves that a push token is this phone's; nothing is shown.
    public let challenge: Challenge?

    /// Nil for a message of another sender. `prefix` is the data prefix of the workspace.
    public init?(userInfo: [AnyHashable: Any], prefix: String = "svc") {
        guard let own = userInfo[prefix] as? [String: Any], let id = own["message_id"] as? String else { return nil }
        self.id = id
        let aps = userInfo["aps"] as? [String: Any]
        let alert = aps?["alert"] as? [String: Any]
        title = alert?["title"] as? String ?? ""
        text = alert?["body"] as? String ?? aps?["alert"] as? String ?? ""
        isSilent = aps?["alert"] == nil
        workspaceId = own["app_id"] as? String
        campaignId = own["campaign_id"] as? String
        runId = own["run_id"] as? String
        inboxExpiry = (own["inbox_expiry"] as? Double).map { Date(timeIntervalSince1970: $0) }
        coupon = own["coupon_code"] as? String
        reportToken = own["report_token"] as? String
        if let installation = own["installation_id"] as? String, let code = own["challenge"] as? String {
            challenge = Challenge(installationId: installation, code: code)
        } else {
            challenge = nil
        }
        media = (own["media"] as? [[String: Any]] ?? []).compactMap { item in
            guard let address = address(item["value"]), address.scheme == "https" else { return nil }
            return Media(type: item["type"] as? String ?? "", address: address)
        }
        let action = own["action"] as? [String: Any]
        // Silent messages have their pairs outside an action.
        pairs = (action ?? own)["key_value_pairs"] as? [String: String] ?? [:]
        if let type = action?["type"] as? String, let value = action?["value"] as? String {
            target = Target(type: type, value: value)
        } else {
            target = nil
        }
        buttons = (own["actions"] as? [[String: Any]] ?? []).compactMap { item in
            guard let action = item["action"] as? String, let title = item["name"] as? String else { return nil }
            return Button(
                action: action, title: title, address: address(item["value"]), iconAddress: address(item["iconUrl"])
            )
        }
    }
}

private func address(_ value: Any?) -> URL? { (value as? String).flatMap { URL(string: $0) } }
