import Foundation

/// An address of this phone. `provider` is nil for Apple, `type` is nil for a token.
public struct PushToken: Codable, Sendable, Equatable {
    public let value: String
    public let provider: String?
    public let type: String?

    public init(_ value: String, provider: String? = nil, type: String? = nil) {
        self.value = value
        self.provider = provider
        self.type = type
    }

    /// Apple's token as its service expects it: in hexadecimal digits. Its length may change, so no code depends on it.
    public init(deviceToken: Data) {
        self.init(hexadecimal(deviceToken))
    }
}

/// Returns the bytes as lower-case hexadecimal digits.
public func hexadecimal(_ bytes: Data) -> String {
    bytes.map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0\(digits)" : digits
    }.joined()
}

/// Something that waits for the service. `number` identifies it for as long as it waits; `at` is in milliseconds since 1970.
struct Item: Codable, Sendable, Equatable {
    enum Kind: Codable, Sendable, Equatable {
        case register
        /// `isWaiting`: the service rejected the token, or lost the user. Only another login continues.
        case identify(user: String, token: String?, isWaiting: Bool)
        case logout
        case report(user: String?, body: [String: Value])
        case receipt(body: [String: Value])
        /// Sent without an app key: the token of a message is the credential.
        case interaction(body: [String: Value])
    }

    let number: Int
    let at: Int
    var kind: Kind
}

/// A token that another device holds. The service sends a code to it, which proves that it is this phone's.
struct Held: Codable, Sendable, Equatable {
    let token: PushToken
    let at: Int
}

/// Everything that outlives the process.
struct State: Codable, Sendable {
    var appKey = ""
    var host = ""
    /// Made on the device and kept there: the two prove this installation.
    var id = UUID().uuidString.lowercased()
    var secret = makeSecret()
    var isRegistered = false
    var isOptedIn = true
    /// The user has only allowed quiet delivery.
    var isProvisional = false
    var token: PushToken?
    var held: Held?
    /// The code that arrived.
    var challenge: String?
    /// The user who is signed in on the phone.
    var user: String?
    /// The user who is signed in at the service.
    var serviceUser: String?
    /// A logout has not reached the service: messages that arrive are for the user who left, and are not shown.
    var isHushed = false
    /// The token of the newest message, with which the number on the icon is reported.
    var reportToken: String?
    var failures = 0
    var waitUntil = 0
    /// The wait is because of the network, so it ends when there is one.
    var isOffline = false
    var nextNumber = 1
    var queue: [Item] = []

    /// The server of the app registers this phone; only interactions are sent.
    var isReceiverOnly: Bool { host != "" && appKey == "" }

    mutating func makeItem(_ kind: Item.Kind, at now: Int) -> Item {
        defer { nextNumber += 1 }
        return Item(number: nextNumber, at: now, kind: kind)
    }
}

/// Returns 256 random bits in base64url.
func makeSecret() -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    return Data(bytes).base64EncodedString()
        .replacingOccurrences(of: "+", with: "-")
        .replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
}
