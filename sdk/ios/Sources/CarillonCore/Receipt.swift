/// What happened to a message. `action` is the button.
public struct Receipt: Sendable {
    public enum Kind: String, Sendable {
        case shown, clicked, dismissed

        /// The kind of `POST /v1/interactions`, which needs no app key.
        public var interaction: String {
            switch self {
            case .shown: return "impression"
            case .clicked: return "click"
            case .dismissed: return "close"
            }
        }
    }

    public let token: String
    public let type: Kind
    public let action: String?

    public init(token: String, type: Kind, action: String? = nil) {
        self.token = token
        self.type = type
        self.action = action
    }
}
