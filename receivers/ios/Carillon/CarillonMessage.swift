import Foundation

/// One message. The only file that knows the names of keys (docs/phones.md); a test holds them to what the server sends.
/// Whatever is missing or of another form than it should be is as if it were not there. For the app and for its extension.
public struct CarillonMessage {
    /// What a tap opens: `richlanding` (web address), `deeplinking` (URI) or `navigation` (screen).
    public struct Target {
        public let type: String
        public let value: String
        public let pairs: [String: String]
    }

    /// A picture, a sound or a film; the extension loads the first.
    public struct Media {
        public let type: String
        public let address: URL
    }

    /// A button that came with the message: its name is what a click on it is reported under.
    public struct Button {
        public let action: String
        public let title: String
        public let address: URL?
        public let iconAddress: URL?
    }

    public let id: String
    public let workspaceId: String?
    public let campaignId: String?
    public let runId: String?
    /// When it leaves an inbox that your app keeps.
    public let inboxExpiry: Date?
    public let coupon: String?
    public let media: [Media]
    public let target: Target?
    public let buttons: [Button]
    /// Of a silent message, which is for the app alone.
    public let silentPairs: [String: String]?
    let reportToken: String?

    /// Nil for a message of another sender.
    public init?(userInfo: [AnyHashable: Any], prefix: String) {
        guard let own = userInfo[prefix] as? [String: Any], let id = own["message_id"] as? String else { return nil }
        self.id = id
        workspaceId = own["app_id"] as? String
        campaignId = own["campaign_id"] as? String
        runId = own["run_id"] as? String
        inboxExpiry = (own["inbox_expiry"] as? Double).map { Date(timeIntervalSince1970: $0) }
        coupon = own["coupon_code"] as? String
        reportToken = own["report_token"] as? String
        silentPairs = own["key_value_pairs"] as? [String: String]
        media = (own["media"] as? [[String: Any]] ?? []).compactMap { item in
            guard let address = CarillonMessage.address(item["value"]), address.scheme == "https" else { return nil }
            return Media(type: item["type"] as? String ?? "", address: address)
        }
        target = (own["action"] as? [String: Any]).flatMap { action in
            guard let type = action["type"] as? String, let value = action["value"] as? String else { return nil }
            return Target(type: type, value: value, pairs: action["key_value_pairs"] as? [String: String] ?? [:])
        }
        buttons = (own["actions"] as? [[String: Any]] ?? []).compactMap { item in
            guard let action = item["action"] as? String, let title = item["name"] as? String else { return nil }
            return Button(
                action: action,
                title: title,
                address: CarillonMessage.address(item["value"]),
                iconAddress: CarillonMessage.address(item["iconUrl"])
            )
        }
    }

    private static func address(_ value: Any?) -> URL? {
        return (value as? String).flatMap { URL(string: $0) }
    }
}
