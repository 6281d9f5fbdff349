import Foundation

/// What the app should react to.
public enum Notice: String, Sendable {
    /// The service needs a new token, so call login again.
    case identityNeeded = "identity-needed"
    /// Another device holds the push token, and no challenge proved within a minute that it is this phone's.
    case tokenLost = "token-lost"
}

private let maxBatch = 50
private let maxItems = 1_000
private let maxItemAge = 7 * 86_400_000
let maxWait = 3_600_000

extension State {
    /// The first items that can be sent together. Behind a sign-in that waits, only items that need no user can be sent.
    var nextItems: [Item] {
        var isHeld = false
        for (index, item) in queue.enumerated() {
            if case .interaction = item.kind { return [item] }
            if appKey == "" || (!isRegistered && item.kind != .register) { continue }
            switch item.kind {
            case .identify(_, _, let isWaiting):
                if isHeld { continue }
                if !isWaiting { return [item] }
                isHeld = true
            case .report(let user, _):
                // If the service knows another user, the sign-in is on its way, or was lost.
                if !isHeld && user == serviceUser { return takeSame(from: index) }
                isHeld = true
            case .logout:
                if !isHeld { return [item] }
            case .receipt: return takeSame(from: index)
            case .register, .interaction: return [item]
            }
        }
        return []
    }

    /// Returns the first items that belong in one request: of one kind and one user.
    private func takeSame(from index: Int) -> [Item] {
        func group(_ item: Item) -> String {
            switch item.kind {
            case .report(let user, _): return "report \(user.map { "of \($0)" } ?? "")"
            case .receipt: return "receipt"
            default: return "other \(item.number)"
            }
        }
        let first = group(queue[index])
        return Array(queue[index...].prefix(maxBatch).prefix { group($0) == first })
    }

    /// Returns the request that sends the items.
    func request(for items: [Item], device: [String: String], now: Int) -> Request {
        let own = "/v1/app/installations/\(id)"
        switch items[0].kind {
        case .register: return ownRequest("/v1/app/installations", registration(device))
        case .identify(let user, let token, _):
            return ownRequest("\(own)/identify", ["user_id": .text(user), "identity_token": .of(token)])
        case .logout: return ownRequest("\(own)/logout", nil)
        case .report:
            let events = items.compactMap { item -> Value? in
                if case .report(_, let body) = item.kind { return .object(body) }
                return nil
            }
            let body: [String: Value] = [
                "installation_id": .text(id), "sent_at": .text(iso(now)), "events": .list(events),
            ]
            return ownRequest("/v1/app/events", body)
        case .receipt:
            let receipts = items.compactMap { item -> Value? in
                if case .receipt(let body) = item.kind { return .object(body) }
                return nil
            }
            return ownRequest("/v1/app/receipts", ["installation_id": .text(id), "receipts": .list(receipts)])
        case .interaction(let body):
            return Request(address: "\(host)/v1/interactions", headers: [:], body: body)
        }
    }

    private func ownRequest(_ path: String, _ body: [String: Value]?) -> Request {
        let headers = ["Authorization": "Bearer \(appKey)", "Carillon-Installation-Secret": secret]
        return Request(address: host + path, headers: headers, body: body)
    }

    private func registration(_ device: [String: String]) -> [String: Value] {
        var body = device.mapValues(Value.text)
        body["installation_id"] = .text(id)
        body["platform"] = "IOS"
        body["opted_in"] = .flag(isOptedIn)
        body["provisional"] = .flag(isProvisional)
        guard let token = token else { return body }
        body["push_token"] = .text(token.value)
        body["push_provider"] = token.provider.map(Value.text)
        body["push_token_type"] = token.type.map(Value.text)
        body["push_token_challenge"] = challenge.map(Value.text)
        return body
    }

    /// Applies a response to the state as it is now: logins and logouts may have happened meanwhile. Nil: no response came.
    mutating func settle(_ sent: [Item], sentAs: String, response: Response?, now: Int) -> Notice? {
        let numbers = Set(sent.map(\.number))
        // Interactions are answered by 204.
        if let status = response?.status, (200...204).contains(status) {
            failures = 0
            waitUntil = 0
            // An installation that was replaced meanwhile owns nothing of this response.
            if id == sentAs { applySuccess(sent[0], now: now) }
            queue.removeAll { numbers.contains($0.number) }
            return nil
        }
        switch response?.code {
        case "INSTALLATION_UNKNOWN": return forgetInstallation(sent[0], now: now)
        case "IDENTITY_TOKEN_INVALID":
            // A logout or another login may have removed it.
            guard let index = queue.firstIndex(where: { $0.number == sent[0].number }),
                case .identify(let user, _, _) = queue[index].kind
            else { return nil }
            queue[index].kind = .identify(user: user, token: nil, isWaiting: true)
            return .identityNeeded
        case "PUSH_TOKEN_HELD":
            if let token = token { held = Held(token: token, at: now) }
            token = nil
            challenge = nil
            return nil
        default: break
        }
        if isRefused(response, sent[0]) || now - sent[0].at > maxItemAge {
            queue.removeAll { numbers.contains($0.number) }
            return nil
        }
        failures += 1
        isOffline = response == nil
        let asked = (response?.retryAfterSeconds ?? 0) * 1_000
        waitUntil = now + min(max(500 << min(failures, 12), asked), maxWait)
        return nil
    }

    private func isRefused(_ response: Response?, _ item: Item) -> Bool {
        if case .interaction = item.kind, response?.status == 404 { return true }
        return response?.status == 400 || response?.status == 413
    }

    private mutating func applySuccess(_ item: Item, now: Int) {
        switch item.kind {
        case .register:
            isRegistered = true
            challenge = nil
        case .identify(let signedIn, _, _):
            serviceUser = signedIn
            // The user signed out while the request was on its way.
            if user == nil { enqueueLogout(at: now) }
        case .logout:
            serviceUser = nil
            isHushed = false
        case .report, .receipt, .interaction: break
        }
    }

    /// The service lost the installation, or another one has its id. It registers again, and the user has to be proved again.
    private mutating func forgetInstallation(_ item: Item, now: Int) -> Notice? {
        if item.kind == .register {
            let fresh = State()
            id = fresh.id
            secret = fresh.secret
            // A service that refuses every new id must not be asked in a loop.
            failures += 1
            if failures > 1 { waitUntil = now + min(500 << min(failures, 12), maxWait) }
        }
        isRegistered = false
        serviceUser = nil
        isHushed = false
        // No user is signed in there any more.
        queue.removeAll { $0.kind == .logout }
        ensureRegistered(at: now)
        guard let user = user, !queue.contains(where: \.isIdentify) else { return nil }
        queue.insert(makeItem(.identify(user: user, token: nil, isWaiting: true), at: now), at: 1)
        return .identityNeeded
    }

    /// Registers before anything else is sent.
    mutating func ensureRegistered(at now: Int) {
        guard !isReceiverOnly, !isRegistered, !queue.contains(where: { $0.kind == .register }) else { return }
        queue.insert(makeItem(.register, at: now), at: 0)
    }

    /// Registers again, because something of the registration changed.
    mutating func enqueueRegister(at now: Int) {
        // A registration sends the state of that moment, so one that has not been sent is enough; but it may be on its way.
        queue.append(makeItem(.register, at: now))
    }

    mutating func enqueueLogin(_ userId: String, token: String?, at now: Int) {
        let isPending = queue.contains { $0.isIdentify || $0.kind == .logout }
        if user == userId, serviceUser == userId, !isPending { return }
        user = userId
        queue.removeAll(where: \.isIdentify)
        let known = serviceUser
        let before = queue.firstIndex { item in
            if case .report(let of, _) = item.kind { return of == userId && known != userId }
            return false
        }
        let item = makeItem(.identify(user: userId, token: token, isWaiting: false), at: now)
        queue.insert(item, at: before ?? queue.endIndex)
        waitUntil = 0
        ensureRegistered(at: now)
    }

    /// Forgets a token that was not used, with the events that only it could have sent.
    mutating func signOut(at now: Int) {
        let known = serviceUser
        user = nil
        queue.removeAll { item in
            if case .report(let of, _) = item.kind { return of != nil && of != known }
            return item.isIdentify
        }
        if known != nil { enqueueLogout(at: now) }
        waitUntil = 0
    }

    private mutating func enqueueLogout(at now: Int) {
        isHushed = true
        if !queue.contains(where: { $0.kind == .logout }) { queue.append(makeItem(.logout, at: now)) }
    }

    /// The client id of an event or a change of attributes is made here, so that a retry counts once.
    mutating func enqueueReport(_ report: [String: Value], at now: Int) {
        var body = report
        body["id"] = .text(UUID().uuidString)
        if body["type"] == "event" { body["time"] = .text(iso(now)) }
        queue.append(makeItem(.report(user: user, body: body), at: now))
        ensureRegistered(at: now)
    }

    mutating func enqueueReceipt(_ receipt: Receipt, at now: Int) {
        var body: [String: Value] = ["id": .text(UUID().uuidString), "token": .text(receipt.token)]
        body["action"] = receipt.action.map(Value.text)
        if isReceiverOnly {
            body["kind"] = .text(receipt.type.interaction)
            queue.append(makeItem(.interaction(body: body), at: now))
        } else {
            body["type"] = .text(receipt.type.rawValue)
            queue.append(makeItem(.receipt(body: body), at: now))
            ensureRegistered(at: now)
        }
    }

    /// Reports the number on the icon, from which the service counts on. Without any message there is nothing to count from.
    mutating func enqueueBadge(_ number: Int, at now: Int) {
        guard let token = reportToken else { return }
        let body: [String: Value] = [
            "id": .text(UUID().uuidString), "token": .text(token), "kind": "badge", "value": .integer(number),
        ]
        queue.append(makeItem(.interaction(body: body), at: now))
    }

    /// Registers with the code that arrived for a held token. A code for another installation is not for this phone to use.
    mutating func answer(_ code: Challenge, at now: Int) {
        guard let held = held, code.installationId == id else { return }
        token = held.token
        self.held = nil
        challenge = code.code
        waitUntil = 0
        enqueueRegister(at: now)
    }

    /// Drops the oldest reports of a queue that nothing has emptied.
    mutating func limitQueue() {
        var over = queue.count - maxItems
        guard over > 0 else { return }
        queue.removeAll { item in
            guard case .report = item.kind, over > 0 else { return false }
            over -= 1
            return true
        }
    }
}

extension Item {
    var isIdentify: Bool {
        if case .identify = kind { return true }
        return false
    }
}

/// ISO 8601 in UTC.
func iso(_ at: Int) -> String {
    let format = ISO8601DateFormatter()
    format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    return format.string(from: Date(timeIntervalSince1970: Double(at) / 1_000))
}
