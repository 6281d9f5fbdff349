import Foundation

/// How the service is asked, and what the core cannot know by itself.
public struct CoreOptions: Sendable {
    public var store: any Store
    public var transport: any Transport = HttpTransport()
    /// Milliseconds since 1970.
    public var clock: @Sendable () -> Int = { Int(Date().timeIntervalSince1970 * 1_000) }
    /// `locale`, `time_zone`, `app_version`, `os_version`, `model`, `app_id`, as the registration has them.
    public var device: @Sendable () -> [String: String] = { [:] }
    /// Called after each change: true while messages must not be shown.
    public var onHush: @Sendable (Bool) -> Void = { _ in }

    public init(store: any Store) {
        self.store = store
    }
}

public enum CarillonError: Error, Equatable {
    /// The host is not an http(s) address.
    case hostInvalid
    /// Call start first.
    case notStarted
    /// `startReceiving` has no app key: the server of the app signs users in. Call start instead.
    case appKeyMissing
}

/// A code for a held token that has not arrived by then is not expected any more.
private let maxChallengeWait = 60_000

/// The part of the SDK that needs Foundation alone: who this installation is, and the queue of what it tells the service. Every
/// call stores its change before it returns, and none throws because of the network. One process at a time may use a store.
public final class CarillonCore: @unchecked Sendable {
    private let options: CoreOptions
    /// Guards everything below.
    private let lock = NSLock()
    private var state: State
    private var listeners: [Int: @Sendable (Notice) -> Void] = [:]
    private var nextListener = 0
    /// The attempt that runs or ran last. Attempts follow one another, so that no item is sent twice at a time.
    private var attempts: Task<Int?, Never>?
    private var timer: Task<Void, Never>?

    public init(_ options: CoreOptions) {
        self.options = options
        // Data that this version did not write: a new installation is better than an app that never starts.
        state = options.store.read().flatMap { try? JSONDecoder().decode(State.self, from: $0) } ?? State()
    }

    public var installationId: String { lock.withLock { state.id } }

    /// True while a logout has not reached the service: messages are for the user who left and must not be shown.
    public var isHushed: Bool { lock.withLock { state.isHushed } }

    /// Sends what an earlier process could not send.
    public func start(appKey: String, host: String) throws {
        let address = try originOf(host)
        change { state, now in
            // Another service knows nothing of this installation.
            if state.host != "", state.host != address {
                state.isRegistered = false
                state.serviceUser = nil
            }
            state.appKey = appKey
            state.host = address
            if !state.queue.isEmpty { state.ensureRegistered(at: now) }
        }
    }

    /// For an app whose own server registers the phone: the core only sends receipts, which need no app key.
    public func startReceiving(host: String) throws {
        let address = try originOf(host)
        change { state, _ in
            state.appKey = ""
            state.host = address
        }
    }

    /// The address of this phone. The same address is sent once; nil means that the phone has none any more.
    public func setPushToken(_ token: PushToken?) {
        change { state, now in
            if state.token == token, state.isRegistered, state.held == nil { return }
            state.token = token
            state.held = nil
            state.challenge = nil
            state.enqueueRegister(at: now)
        }
    }

    /// True if the user has only allowed quiet delivery.
    public func setProvisional(_ isProvisional: Bool) {
        change { state, now in
            if state.isProvisional == isProvisional { return }
            state.isProvisional = isProvisional
            if state.isRegistered { state.enqueueRegister(at: now) }
        }
    }

    public func login(_ userId: String, identityToken: String? = nil) throws {
        try changeOwn { state, now in state.enqueueLogin(userId, token: identityToken, at: now) }
    }

    public func logout() throws {
        try changeOwn { state, now in state.signOut(at: now) }
    }

    public func track(_ name: String, _ attributes: Attributes = [:]) throws {
        let body: [String: Value] = ["type": "event", "name": .text(name), "attributes": .object(attributes)]
        try changeOwn { state, now in state.enqueueReport(body, at: now) }
    }

    /// Null removes an attribute.
    public func setAttributes(_ attributes: Attributes) throws {
        let body: [String: Value] = ["type": "set", "attributes": .object(attributes)]
        try changeOwn { state, now in state.enqueueReport(body, at: now) }
    }

    public func optIn() throws { try setOptIn { true } }

    public func optOut() throws { try setOptIn { false } }

    public func receipt(_ receipt: Receipt) {
        change { state, now in
            state.reportToken = receipt.token
            state.enqueueReceipt(receipt, at: now)
        }
    }

    /// Reports the number on the icon, from which the service counts on.
    public func badge(_ number: Int) {
        change { state, now in state.enqueueBadge(number, at: now) }
    }

    public func answer(_ challenge: Challenge) {
        change { state, now in state.answer(challenge, at: now) }
    }

    /// There is a network again. A wait that the service asked for goes on.
    public func online() {
        change { state, _ in if state.isOffline { state.waitUntil = 0 } }
    }

    /// Returns a function that ends it.
    @discardableResult
    public func onNotice(_ listener: @escaping @Sendable (Notice) -> Void) -> @Sendable () -> Void {
        let number = lock.withLock { () -> Int in
            nextListener += 1
            listeners[nextListener] = listener
            return nextListener
        }
        return { [weak self] in self?.lock.withLock { _ = self?.listeners.removeValue(forKey: number) } }
    }

    /// Tries to send what waits. Returns the milliseconds until the next attempt; nil if nothing waits that could be sent.
    @discardableResult
    public func sync() async -> Int? {
        await enqueueAttempt().value
    }

    private func setOptIn(_ wanted: @Sendable () -> Bool) throws {
        try changeOwn { state, now in
            state.isOptedIn = wanted()
            state.enqueueRegister(at: now)
        }
    }

    private func changeOwn(_ work: (inout State, Int) -> Void) throws {
        let (isReceiver, isStarted) = lock.withLock { (state.isReceiverOnly, state.host != "") }
        if !isStarted { throw CarillonError.notStarted }
        if isReceiver { throw CarillonError.appKeyMissing }
        change(work)
    }

    private func change(_ work: (inout State, Int) -> Void) {
        changeState(work)
        enqueueAttempt()
    }

    @discardableResult
    private func changeState<Result>(_ work: (inout State, Int) -> Result) -> Result {
        let (result, isHushed) = lock.withLock { () -> (Result, Bool) in
            let result = work(&state, options.clock())
            state.limitQueue()
            // If the disk is full, the change lives as long as the process, and the next write stores it.
            if let data = try? JSONEncoder().encode(state) { try? options.store.write(data) }
            return (result, state.isHushed)
        }
        options.onHush(isHushed)
        return result
    }

    @discardableResult
    private func enqueueAttempt() -> Task<Int?, Never> {
        lock.withLock {
            timer?.cancel()
            let before = attempts
            let next = Task { () -> Int? in
                _ = await before?.value
                let wait = await flush()
                if let wait = wait { schedule(wait) }
                return wait
            }
            attempts = next
            return next
        }
    }

    private func schedule(_ milliseconds: Int) {
        lock.withLock {
            timer?.cancel()
            timer = Task { [weak self] in
                try? await Task.sleep(nanoseconds: UInt64(milliseconds) * 1_000_000)
                if !Task.isCancelled { self?.enqueueAttempt() }
            }
        }
    }

    private func flush() async -> Int? {
        while true {
            if takeLateChallenge() {
                tell(.tokenLost)
                continue
            }
            let plan = makePlan()
            guard let request = plan.request else { return plan.wait }
            let response = try? await options.transport.post(request)
            let notice = changeState { state, now in
                state.settle(plan.items, sentAs: plan.installationId, response: response, now: now)
            }
            if let notice = notice { tell(notice) }
        }
    }

    private struct Plan {
        var items: [Item] = []
        var request: Request?
        var wait: Int?
        let installationId: String
    }

    private func makePlan() -> Plan {
        lock.withLock {
            let now = options.clock()
            var plan = Plan(installationId: state.id)
            let wait = state.waitUntil - now
            // A clock that was set back must not delay this for more than the longest wait.
            if wait > 0, wait <= maxWait {
                plan.wait = wait
                return plan
            }
            plan.items = state.host == "" ? [] : state.nextItems
            if plan.items.isEmpty {
                plan.wait = state.held.map { maxChallengeWait - abs(now - $0.at) }
            } else {
                plan.request = state.request(for: plan.items, device: options.device(), now: now)
            }
            return plan
        }
    }

    private func takeLateChallenge() -> Bool {
        let isLate = lock.withLock { state.held.map { abs(options.clock() - $0.at) >= maxChallengeWait } ?? false }
        if isLate { changeState { state, _ in state.held = nil } }
        return isLate
    }

    private func tell(_ notice: Notice) {
        for listener in lock.withLock({ Array(listeners.values) }) { listener(notice) }
    }
}

/// Returns scheme, host and port of an address.
private func originOf(_ address: String) throws -> String {
    guard let parts = URLComponents(string: address), let scheme = parts.scheme?.lowercased(),
        ["http", "https"].contains(scheme), let host = parts.host, host != ""
    else { throw CarillonError.hostInvalid }
    return "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
}
